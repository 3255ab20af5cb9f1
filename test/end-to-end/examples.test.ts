import type { Registry } from "perdure";
import { ManualClock, World, type CommitFault } from "perdure/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { registry as childWorkers } from "../../examples/child-worker-orchestration/index.js";
import { registry as coordinator } from "../../examples/coordinator-worker-rpc/index.js";
import { registry as fanOut } from "../../examples/fan-out-fan-in-join/index.js";
import { registry as join } from "../../examples/join/index.js";
import { registry as pollBackoff } from "../../examples/poll-backoff-loop/index.js";
import { registry as loops } from "../../examples/quickstart-loops/index.js";
import { registry as setupTeardown } from "../../examples/quickstart-setup-teardown/index.js";
import { registry as simple } from "../../examples/quickstart-simple-workflow/index.js";
import { registry as race } from "../../examples/race/index.js";
import { registry as scatterGather } from "../../examples/scatter-gather-across-actors/index.js";
import { registry as fallback } from "../../examples/timeout-fallback-actor/index.js";
import { registry as timeouts } from "../../examples/timeouts/index.js";
import { registry as timers } from "../../examples/timers/index.js";
import { encodeValue } from "../../src/protocol/index.js";

interface Example {
  readonly name: string;
  readonly registry: unknown;
  readonly actor: string;
  readonly sends?: readonly (readonly [queue: string, body: (now: number) => unknown])[];
  /** How long it goes on between two looks, ms of its own clock. */
  readonly lookMs?: number;
  /** What it must come to. */
  readonly state: object;
}

const ANSWER_MS = 50;
const LOOKS = 1_000;
/** Crashes are tried at so many commits from when the messages are accepted. */
const MAX_COMMITS = 40;
const ANSWERS: Readonly<Record<string, unknown>> = {
  "carts/main": { subtotal: 60 },
  "tax/quote": { tax: 5 },
  invoices: { id: "invoice-1", count: 17 },
  users: { count: 120 },
  orders: { count: 45 },
  revenue: { count: 9_800 },
  "workers/session": { sessionId: "session-1" },
};

const examples: readonly Example[] = [
  { name: "quickstart-simple-workflow", registry: simple, actor: "invoiceActor", state: { invoiceId: "invoice-1", subtotal: 60, tax: 5, total: 65, status: "complete" } },
  { name: "quickstart-loops", registry: loops, actor: "workflowCounter", sends: [1, 2, 3].map((delta) => ["counter", () => ({ delta })]), state: { value: 6, processed: 3 } },
  {
    name: "quickstart-setup-teardown",
    registry: setupTeardown,
    actor: "setupRunTeardownActor",
    sends: [["work", () => ({ amount: 5 })], ["work", () => ({ amount: 3 })], ["control", () => ({ type: "stop", reason: "maintenance" })]],
    state: { phase: "stopped", total: 8, processed: 2, stopReason: "maintenance", workerSessionId: "session-1" },
  },
  {
    name: "timers",
    registry: timers,
    actor: "reminderActor",
    sends: [["reminders", (now) => ({ text: "first", at: now + 60_000 })], ["reminders", (now) => ({ text: "second", at: now + 1_000 })]],
    state: { fired: ["first", "second"] },
  },
  { name: "timeouts", registry: timeouts, actor: "timeoutActor", sends: [["charge", () => ({ orderId: "flaky" })]], state: { lastChargeId: "charge-flaky" } },
  { name: "join", registry: join, actor: "dashboardActor", sends: [["refresh", () => ({})]], state: { summary: { users: 120, orders: 45, revenue: 9_800 } } },
  { name: "race", registry: race, actor: "auctionActor", sends: [["bids", () => ({ amount: 100 })]], state: { result: "sold" } },
  { name: "race without a bid", registry: race, actor: "auctionActor", lookMs: 3_600_000, state: { result: "expired" } },
  { name: "fan-out-fan-in-join", registry: fanOut, actor: "fanInOutActor", sends: [["any", () => ({})]], state: { total: 182 } },
  { name: "scatter-gather-across-actors", registry: scatterGather, actor: "scatterGatherActor", sends: [["any", () => ({ input: 7 })]], state: { lastSum: 210 } },
  { name: "poll-backoff-loop", registry: pollBackoff, actor: "pollBackoffActor", lookMs: 50, state: { attempts: 3, backoffMs: 100, status: "healthy" } },
  {
    name: "coordinator-worker-rpc",
    registry: coordinator,
    actor: "coordinatorActor",
    sends: [["any", () => ({ taskId: "task-1", workerId: "w", value: 21 })]],
    state: { lastTaskId: "task-1", lastResult: 42 },
  },
  { name: "child-worker-orchestration", registry: childWorkers, actor: "orchestratorActor", sends: [["any", () => ({ payload: 2 })]], state: { lastTotal: 18 } },
  { name: "timeout-fallback-actor", registry: fallback, actor: "timeoutFallbackActor", sends: [["any", () => ({})]], state: { lastSource: "fallback", lastValue: "fallback" } },
];

/** Runs an example on a clock of its own; `fault` is asked at each commit from when all its messages are accepted. */
async function run({ registry, actor: name, sends = [], lookMs = 1_000, state }: Example, fault: CommitFault = () => undefined) {
  const clock = new ManualClock();
  vi.stubGlobal("setTimeout", (fire: () => void, durationMs: number) => clock.setTimer(clock.now() + durationMs, fire));
  vi.stubGlobal("fetch", (url: string, init: RequestInit = {}) => answer(clock, url.replace("https://api.example.com/", ""), init));
  let accepted: number | undefined;
  const world = new World(registry as Registry, {
    clock,
    nextTurn: (next) => void setImmediate(next),
    fault: (actor, commit) => (actor.name === name && accepted !== undefined ? fault(commit - accepted) : undefined),
  });
  const actor = world.actor(name, ["k"]);
  await actor.call("getState");
  for (const [queue, body] of sends) await actor.send({ mode: "get" }, { kind: "send", queue, body: encodeValue(body(clock.now())) });
  accepted = actor.store.commits;
  let seen = await actor.call("getState");
  for (let looks = 0; looks < LOOKS && !isLike(seen, state); looks += 1) {
    await world.pass(lookMs);
    seen = await actor.call("getState");
  }
  return { actor, commits: actor.store.commits - accepted, state: seen };
}

function isLike(seen: unknown, state: object): boolean {
  return Object.entries(state).every(([name, value]) => JSON.stringify((seen as Record<string, unknown>)[name]) === JSON.stringify(value));
}

/** What api.example.com answers. A charge fails at first, hangs then, and goes through in attempt 3. */
async function answer(clock: ManualClock, path: string, { body, signal }: RequestInit): Promise<{ ok: boolean; status: number; json: () => Promise<unknown> }> {
  const { delta, value, amount, attempt } = (typeof body === "string" ? JSON.parse(body) : {}) as Record<string, number>;
  const result = { ok: true, status: 200, json: async (): Promise<unknown> => ANSWERS[path] };
  if (path === "counter/apply") result.json = async () => ({ nextValue: Number(value) + Number(delta), operationId: "operation" });
  if (path === "workers/process") result.json = async () => ({ appliedAmount: amount });
  if (path === "charges") result.json = async () => ({ chargeId: "charge-flaky" });
  const isHanging = path === "charges" && attempt === 2;
  await new Promise((resolve, reject) => {
    if (!isHanging) clock.setTimer(clock.now() + ANSWER_MS, () => resolve(undefined));
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return path === "charges" && attempt === 1 ? { ...result, ok: false, status: 503 } : result;
}

describe("each example comes to the same, wherever its actor is cut off", () => {
  afterEach(() => vi.unstubAllGlobals());

  for (const example of examples) {
    test(`${example.name}`, async () => {
      const undisturbed = await run(example);
      expect(undisturbed.state).toMatchObject(example.state);
      expect(undisturbed.commits).toBeGreaterThan(1);
      for (let at = 1; at <= Math.min(undisturbed.commits, MAX_COMMITS); at += 1) {
        for (const kind of ["crash-before", "crash-after"] as const) {
          const disturbed = await run(example, (commit) => (commit === at ? kind : undefined));
          expect(disturbed.state, `${kind} commit ${at}`).toMatchObject(example.state);
          expect(disturbed.actor.crashes, `${kind} commit ${at}`).toBe(1);
        }
      }
    });
  }
});
