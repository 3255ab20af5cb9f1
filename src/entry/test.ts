/** `perdure/test`: actors served over HTTP for one test, as RivetKit's `rivetkit/test` does. */
export { setupTest } from "../testing-kit/over-http.js";
export type { SetupTestOptions, SetupTestResult, TestEnd } from "../testing-kit/over-http.js";
