export type { CorsOptions } from "./cors.js";
export type { RouterLog } from "./error-response.js";
export { createActorCaller } from "./forward.js";
export type { ActorCall, ActorReply, CallActor, CallActorOptions, CallPorts } from "./forward.js";
export type { ActorNamespace, ActorStub, ObjectId } from "./object-namespace.js";
export type { ActorTarget } from "./resolve-stub.js";
export { createRouter } from "./router.js";
export type { Router, RouterOptions } from "./router.js";
