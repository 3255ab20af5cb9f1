import { ActorError, decodeValue, fromErrorData, type ErrorData } from "../protocol/index.js";

/** The error that an object answered instead of what was asked of it as a request: encoded as values are stored. */
export async function refusalOf(response: Response): Promise<ActorError> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  try {
    return fromErrorData(decodeValue(bytes) as ErrorData, response.status);
  } catch {
    return new ActorError("rivetkit", "internal_error", "The actor's object answered a request with something else.");
  }
}
