import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const entry = fileURLToPath(new URL("./src/entry", import.meta.url));

/** As `paths` in tsconfig/base.json: the package's own names, and the name its examples were written for, mean the sources. */
const resolve = {
  alias: [
    { find: /^(?:perdure|rivetkit)$/, replacement: `${entry}/index.ts` },
    { find: /^(?:perdure|rivetkit)\/(.+)$/, replacement: `${entry}/$1.ts` },
  ],
};

const SIMULATION = ["test/simulation/**/*.test.ts"];
const WORKERD = ["test/durable-object/**/*.test.ts", "test/contract/key-value*.test.ts", "test/in-worker/**/*.test.ts"];
/** The project of the guide "Testing inside workerd", with a Worker of its own. */
const IN_WORKERD = ["test/package/in-workerd/*.test.ts"];
const TYPES = ["test/types/types.test.ts"];
const END_TO_END = ["test/end-to-end/**/*.test.ts"];
const BROWSER = ["test/browser/**/*.test.ts"];

// No `retry` anywhere: a test that passes the second time is a bug to find. Groups run one after the other, so that what
// measures time (end-to-end) does not share the machine with the rest; from 1, since vitest runs group 0 last on a machine
// with one worker.
export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        test: { name: "types", include: TYPES, testTimeout: 120_000, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        resolve,
        test: {
          // Whatever no other project takes, so that no test file can be left out.
          name: "engine",
          include: ["test/**/*.test.ts"],
          exclude: [...SIMULATION, ...WORKERD, ...IN_WORKERD, ...TYPES, ...END_TO_END, ...BROWSER],
          // The lint tests start a process for each seeded source; the machine may be busy.
          testTimeout: 60_000,
          maxWorkers: "100%",
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve,
        test: {
          name: "simulation",
          include: SIMULATION,
          testTimeout: 60_000,
          maxWorkers: "100%",
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve,
        plugins: [cloudflareTest({ wrangler: { configPath: "./test/support/wrangler.toml" } })],
        test: {
          name: "workerd",
          include: WORKERD,
          testTimeout: 20_000,
          maxWorkers: "100%",
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve,
        plugins: [cloudflareTest({ wrangler: { configPath: "./test/package/in-workerd/wrangler.toml" } })],
        test: {
          name: "workerd-guide",
          include: IN_WORKERD,
          testTimeout: 20_000,
          maxWorkers: "100%",
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve,
        test: {
          name: "end-to-end",
          include: END_TO_END,
          fileParallelism: false,
          // Tests that are silent for a while are so together.
          maxConcurrency: 12,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        resolve,
        test: {
          name: "browser",
          include: BROWSER,
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
