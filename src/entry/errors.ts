export { ActorError, INTERNAL_ERROR_CODE, INTERNAL_ERROR_DESCRIPTION, RivetError, USER_ERROR_CODE, UserError } from "../protocol/index.js";
