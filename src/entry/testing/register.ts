/** `perdure/testing/register`: lets Node load a Worker's files, as in `node --import perdure/testing/register --test`. */
import { registerWorkerFiles, type WorkerFileHooks } from "../../testing-kit/module-loading.js";

export type { WorkerFileHooks } from "../../testing-kit/module-loading.js";

/** What importing this module has registered. */
export const hooks: WorkerFileHooks = registerWorkerFiles();
