/** `perdure/testing/cloudflare-workers`: what stands for `cloudflare:workers` in Node. */
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
} from "../../testing-kit/cloudflare-workers.js";
