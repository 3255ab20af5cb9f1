/** What stands for `cloudflare:workers` in Node. */
export {
  cache,
  DurableObject,
  env,
  exports,
  RpcStub,
  RpcTarget,
  tracing,
  waitUntil,
  withEnv,
  withEnvAndExports,
  withExports,
  WorkerEntrypoint,
  WorkflowEntrypoint,
  WorkflowStep,
} from "./loading/workers-module.js";
