/** `perdure/testing/workers`: actors under test on the real runtime, inside workerd with `@cloudflare/vitest-plugin`. */
export { abort, evict, runDue } from "../../testing-kit/in-workerd.js";
export type { ActorUnderTest } from "../../testing-kit/in-workerd.js";
