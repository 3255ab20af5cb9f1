// The client programs of RivetKit's workflow documentation, as they stand, run by Node with the published client, against
// their actors served by us. The pages lie beside the repository where the project is made, and nowhere else.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DevServer, isPortTaken } from "../scripts/demo-server.mjs";

const run = promisify(execFile);
const here = import.meta.dirname;
const root = join(here, "..");
const pages = process.env["SEED_EXAMPLES"] ?? join(root, "..", "shared", "seeds", "examples");
/** Where the programs look for the server. */
const PORT = 6420;
const PROGRAM_LIMIT_MS = 30_000;
const WORK_LIMIT_MS = 15_000;

/**
 * @typedef {object} Program
 * @property {string} name its folder
 * @property {RegExp} prints its whole output: it sends and looks at once, as the pages show it, so the work may not be done yet
 * @property {(client: any) => Promise<any>} look at the actor's state
 * @property {object} end the state when the work is done
 */

/** @type {readonly Program[]} */
const PROGRAMS = [
  {
    name: "quickstart-simple-workflow",
    prints: /^(idle 0|complete 65\.1)$/,
    look: (client) => client.invoiceActor.get(["main"]).getState(),
    end: { status: "complete", total: 65.1 },
  },
  {
    name: "quickstart-loops",
    prints: /^(0 0|1 1|3 2)$/,
    look: (client) => client.workflowCounter.get(["main"]).getState(),
    end: { value: 3, processed: 2 },
  },
  {
    name: "quickstart-setup-teardown",
    prints: /^(idle|running|stopped) (0|5|8) (null|maintenance)$/,
    look: (client) => client.setupRunTeardownActor.get(["main"]).getState(),
    end: { phase: "stopped", total: 8, processed: 2, stopReason: "maintenance" },
  },
  {
    name: "timers",
    prints: /^\{ fired: \[ 'send weekly report' \] \}$/,
    look: (client) => client.reminderActor.get(["main"]).getState(),
    end: { fired: ["send weekly report"] },
  },
  {
    name: "join",
    prints: /^\{[^]* summary: [^]*\}$/,
    look: (client) => client.dashboardActor.get(["main"]).getState(),
    end: { summary: { users: 120, orders: 45, revenue: 9_800 } },
  },
  {
    name: "race",
    prints: /^\{ result: (null|'sold') \}$/,
    look: (client) => client.auctionActor.get(["item-123"]).getState(),
    end: { result: "sold" },
  },
];

const TSCONFIG = {
  compilerOptions: {
    paths: { rivetkit: [join(root, "src/entry/index.ts")], "rivetkit/*": [join(root, "src/entry/*.ts")] },
  },
};
const WORKER = `
import { setup } from "rivetkit";
import { createHandler } from "rivetkit/cloudflare";
import { stubApi } from "./api-stub";
${PROGRAMS.map(({ name }, index) => `import { registry as r${index} } from "./examples/${name}/index";`).join("\n")}
stubApi();
const use = Object.assign({}, ${PROGRAMS.map((_, index) => `r${index}.config.use`).join(", ")});
const handler = createHandler(setup({ use }), { logLevel: "warn" });
export const { ActorObject } = handler;
export default handler;
`;
const WRANGLER = `
name = "seeds"
main = "worker.ts"
compatibility_date = "2026-11-09"
[[durable_objects.bindings]]
name = "ACTORS"
class_name = "ActorObject"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["ActorObject"]
`;

/** Why the programs cannot be run; undefined if they can. */
export async function whyNoSeeds() {
  if (!existsSync(pages)) return `no folder ${pages}`;
  const programs = readdirSync(pages).filter((name) => existsSync(join(pages, name, "client.ts")));
  assert.deepEqual(
    programs.toSorted(),
    PROGRAMS.map(({ name }) => name).toSorted(),
    "the documentation has other programs",
  );
  if (await isPortTaken(PORT))
    throw new Error(`Port ${PORT} is taken, and the programs know no other: stop what listens there.`);
  return undefined;
}

/**
 * Makes a server for the programs' actors, in which `rivetkit` is this repository, and beside it the programs, for which
 * it is the published package.
 *
 * @param {string} folder an empty one
 */
export function prepareSeeds(folder) {
  const [served, programs] = [join(folder, "served"), join(folder, "programs")];
  for (const project of [served, programs]) {
    mkdirSync(project);
    cpSync(pages, join(project, "examples"), { recursive: true });
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  }
  copyFileSync(join(root, "examples", "api-stub.ts"), join(served, "api-stub.ts"));
  writeFileSync(join(served, "tsconfig.json"), JSON.stringify(TSCONFIG));
  writeFileSync(join(served, "worker.ts"), WORKER);
  writeFileSync(join(served, "wrangler.toml"), WRANGLER);
  symlinkSync(join(here, "node_modules"), join(programs, "node_modules"), "junction");
  return new DevServer({ config: join(served, "wrangler.toml"), port: PORT, persistTo: join(folder, "data") });
}

/**
 * Runs each program, and looks at what came of it.
 *
 * @param {string} folder as prepared
 * @param {any} client the published one, of the server's
 * @returns {Promise<{ name: string, reason?: string }[]>} with the reason if it failed
 */
export function runSeeds(folder, client) {
  return Promise.all(
    PROGRAMS.map(async ({ name, prints, look, end }) => {
      try {
        const program = join(folder, "programs", "examples", name, "client.ts");
        const { stdout } = await run(process.execPath, ["--no-warnings", program], { timeout: PROGRAM_LIMIT_MS });
        assert.match(stdout.trim(), prints);
        await hasBecome(() => look(client), end);
        return { name };
      } catch (error) {
        return { name, reason: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}

/**
 * Looks again and again: nothing tells a client of a change.
 *
 * @param {() => Promise<any>} look
 * @param {object} end
 */
async function hasBecome(look, end) {
  const deadline = Date.now() + WORK_LIMIT_MS;
  for (;;) {
    const state = await look();
    try {
      return assert.partialDeepStrictEqual(state, end);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(50);
  }
}
