import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DevServer, isPortTaken } from "../../scripts/demo-server.mjs";
import { eventually } from "./fixture-server.js";

const root = join(import.meta.dirname, "..", "..");
const SEEDS = join(root, "..", "shared", "seeds", "examples");
/** Where the seeds' own clients look for the server. */
const PORT = 6420;

const run = promisify(execFile);
const node = join(root, "node_modules", ".bin", "node");
// The types of what it reads are in the project that the test makes.
const look = eventually<any>;
const hasSeeds = existsSync(SEEDS);
const names = hasSeeds ? readdirSync(SEEDS).toSorted() : [];

/**
 * A stranger's project: `rivetkit` is our packed tarball, the examples are copied as they stand, and a small worker serves
 * them all. The timeouts' actor has no actions: it gets two to look at it with.
 */
const WORKER = `
import { actor, setup } from "rivetkit";
import { createHandler } from "rivetkit/cloudflare";
import { stubApi } from "./api-stub";
${names.map((name, index) => `import { registry as r${index} } from "./examples/${name}/index";`).join("\n")}

stubApi();
const { timeoutActor, ...others } = Object.assign({}, ${names.map((_, index) => `r${index}.config.use`).join(", ")});
const observed = actor({
  ...timeoutActor.config,
  actions: { getState: (c) => c.state, getHistory: (c) => c.workflow.history() },
});
const handler = createHandler(setup({ use: { ...others, timeoutActor: observed } }));
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
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "ES2023",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: [],
    module: "ESNext",
    moduleResolution: "Bundler",
    skipLibCheck: false,
  },
  include: ["examples"],
};

// The folder lies beside the repository where the project is made, and nowhere else.
describe.skipIf(!hasSeeds)(
  `the examples of RivetKit's workflow documentation, as they stand, with "rivetkit" as an alias of the packed package`,
  () => {
    let project: string;
    let server: DevServer | undefined;
    const client = createClient<any>(`http://localhost:${PORT}`);

    beforeAll(async () => {
      if (await isPortTaken(PORT))
        throw new Error(`Port ${PORT} is taken, and the examples' clients know no other: stop what listens there.`);
      project = mkdtempSync(join(tmpdir(), "perdure-seeds-"));
      execFileSync(process.execPath, [join(root, "scripts", "build.mjs")]);
      const [packed] = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], {
        cwd: root,
        encoding: "utf8",
      }).split("\n");
      const manifest = { name: "seeds", private: true, type: "module", dependencies: { rivetkit: `file:./${packed}` } };
      writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
      // The dependencies are in npm's cache: installing the repository put them there.
      execFileSync(
        "npm",
        [
          "install",
          "--prefer-offline",
          "--omit=optional",
          "--ignore-scripts",
          "--no-audit",
          "--no-fund",
          "--loglevel=error",
        ],
        { cwd: project },
      );
      cpSync(SEEDS, join(project, "examples"), { recursive: true });
      copyFileSync(join(root, "examples", "api-stub.ts"), join(project, "api-stub.ts"));
      writeFileSync(join(project, "worker.ts"), WORKER);
      writeFileSync(join(project, "wrangler.toml"), WRANGLER);
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify(TSCONFIG));
      server = new DevServer({ config: join(project, "wrangler.toml"), port: PORT, persistTo: join(project, "data") });
      await server.start();
    }, 180_000);

    afterAll(async () => {
      await server?.stop();
      if (project) rmSync(project, { recursive: true, force: true });
    });

    /** What an example's own client prints, run by Node as it stands. */
    async function runClient(name: string): Promise<string> {
      const { stdout } = await run(node, [join(project, "examples", name, "client.ts")], { cwd: project });
      return stdout.trim();
    }

    test("there are thirteen, six of them with a client", () => {
      expect(names).toHaveLength(13);
      expect(names.filter((name) => existsSync(join(SEEDS, name, "client.ts")))).toHaveLength(6);
    });

    test("all of them type-check under strict, with bundler resolution", async () => {
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const { stdout } = await run(node, [tsc, "-p", project, "--pretty", "false", "--listFilesOnly"]);
      for (const name of names) expect(stdout).toContain(join("examples", name, "index.ts"));
      const output = await run(node, [tsc, "-p", project, "--pretty", "false"]).then(
        () => "",
        (error: { stdout: string }) => error.stdout,
      );
      expect(output).toBe("");
    });

    // The clients send and look at once, as the pages show it: the first look may come before the work.

    test("quickstart-simple-workflow", async () => {
      expect(await runClient("quickstart-simple-workflow")).toMatch(/^(idle 0|complete 65\.1)$/);
      await look(
        () => client.invoiceActor.get(["main"]).getState(),
        (state) => state.status === "complete",
      );
      expect(await runClient("quickstart-simple-workflow")).toBe("complete 65.1");
    });

    test("quickstart-loops", async () => {
      expect(await runClient("quickstart-loops")).toMatch(/^(0 0|1 1|3 2)$/);
      await look(
        () => client.workflowCounter.get(["main"]).getState(),
        (state) => state.processed === 2 && state.value === 3,
      );
    });

    test("quickstart-setup-teardown", async () => {
      expect(await runClient("quickstart-setup-teardown")).toMatch(
        /^(idle|running|stopped) (0|5|8) (null|maintenance)$/,
      );
      const state = await look(
        () => client.setupRunTeardownActor.get(["main"]).getState(),
        ({ phase }) => phase === "stopped",
      );
      expect(state).toMatchObject({
        total: 8,
        processed: 2,
        stopReason: "maintenance",
        workerSessionId: expect.stringMatching(/^session-/),
      });
    });

    test("timers", async () => {
      expect(await runClient("timers")).toBe("{ fired: [ 'send weekly report' ] }");
    });

    test("join", async () => {
      expect(await runClient("join")).toContain("summary: ");
      const { summary } = await look(
        () => client.dashboardActor.get(["main"]).getState(),
        (state) => state.summary !== null,
      );
      expect(summary).toEqual({ users: 120, orders: 45, revenue: 9_800 });
    });

    test("race", async () => {
      expect(await runClient("race")).toMatch(/^\{ result: (null|'sold') \}$/);
      await look(
        () => client.auctionActor.get(["item-123"]).getState(),
        ({ result }) => result === "sold",
      );
    });

    test("timeouts, seen through its history", async () => {
      const cards = client.timeoutActor.getOrCreate(["main"]);
      await cards.send("charge", { orderId: "order-1" });
      await look(
        () => cards.getState(),
        ({ lastChargeId }) => lastChargeId === "charge-order-1",
      );
      const history: { location: unknown[] }[] = await cards.getHistory();
      expect(history.find(({ location }) => location.at(-1) === "charge-card")).toMatchObject({
        kind: "step",
        status: "completed",
        attempts: 1,
        value: "charge-order-1",
      });
    });

    test("fan-out-fan-in-join", async () => {
      const fan = client.fanInOutActor.getOrCreate(["main"]);
      await fan.send("refresh", {});
      await look(
        () => fan.getState(),
        ({ total }) => total === 120 + 45 + 17,
      );
    });

    test("scatter-gather-across-actors", async () => {
      const gatherer = client.scatterGatherActor.getOrCreate(["main"]);
      await gatherer.send("scatter", { input: 7 });
      await look(
        () => gatherer.getState(),
        ({ lastSum }) => lastSum === 210,
      );
    });

    test("poll-backoff-loop", async () => {
      const poller = client.pollBackoffActor.getOrCreate(["main"]);
      const healthy = await look(
        () => poller.getState(),
        ({ status }) => status === "healthy",
      );
      expect(healthy).toEqual({ attempts: 3, backoffMs: 100, status: "healthy" });
      await look(
        () => poller.getState(),
        ({ attempts, status }) => attempts >= 4 && status === "retrying",
      );
    });

    test("coordinator-worker-rpc", async () => {
      const coordinator = client.coordinatorActor.getOrCreate(["main"]);
      await coordinator.send("task", { taskId: "task-1", workerId: "worker-a", value: 21 });
      const state = await look(
        () => coordinator.getState(),
        ({ lastTaskId }) => lastTaskId !== null,
      );
      expect(state).toEqual({ lastTaskId: "task-1", lastResult: 42 });
    });

    test("child-worker-orchestration", async () => {
      const orchestrator = client.orchestratorActor.getOrCreate(["main"]);
      await orchestrator.send("batch", { payload: 2 });
      await look(
        () => orchestrator.getState(),
        ({ lastTotal }) => lastTotal === 18,
      );
    });

    test("timeout-fallback-actor", async () => {
      const service = client.timeoutFallbackActor.getOrCreate(["main"]);
      await service.send("request", {});
      const state = await look(
        () => service.getState(),
        ({ lastSource }) => lastSource !== "none",
      );
      expect(state).toEqual({ lastSource: "fallback", lastValue: "fallback" });
    });
  },
);
