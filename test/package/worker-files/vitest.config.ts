import { workerFiles } from "perdure/testing/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [workerFiles()], test: { include: ["*.vitest.ts"] } });
