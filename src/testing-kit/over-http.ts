/** What tests that go over HTTP use: `perdure/test`. It is no part of `index.ts`, which needs no network. */
export { setupTest } from "./server/setup-test.js";
export type { SetupTestOptions, SetupTestResult, TestEnd } from "./server/setup-test.js";
