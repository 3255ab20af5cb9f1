import { registry as childWorkers } from "../../examples/child-worker-orchestration/index.js";
import { registry as coordinator } from "../../examples/coordinator-worker-rpc/index.js";
import { registry as fanOut } from "../../examples/fan-out-fan-in-join/index.js";
import { registry as join } from "../../examples/join/index.js";
import { registry as liveProgress } from "../../examples/live-progress/index.js";
import { registry as pollBackoff } from "../../examples/poll-backoff-loop/index.js";
import { registry as loops } from "../../examples/quickstart-loops/index.js";
import { registry as setupTeardown } from "../../examples/quickstart-setup-teardown/index.js";
import { registry as simple } from "../../examples/quickstart-simple-workflow/index.js";
import { registry as race } from "../../examples/race/index.js";
import { registry as scatterGather } from "../../examples/scatter-gather-across-actors/index.js";
import { registry as tenantNotes } from "../../examples/tenant-notes/index.js";
import { registry as fallback } from "../../examples/timeout-fallback-actor/index.js";
import { registry as timeouts } from "../../examples/timeouts/index.js";
import { registry as timers } from "../../examples/timers/index.js";
import type { Registry } from "../../src/actor/index.js";

/** An example, what is asked of it, and what it must come to, wherever it is cut off. */
export interface ExampleRun {
  readonly name: string;
  readonly registry: Registry;
  readonly actor: string;
  readonly sends?: readonly (readonly [queue: string, body: (now: number) => unknown])[];
  /** How long it goes on between two looks, ms of its own clock. */
  readonly lookMs?: number;
  readonly state: object;
  /** What it does to others when nothing goes wrong, and how often: requests to api.example.com, actions of other actors. */
  readonly effects: Readonly<Record<string, number>>;
}

/** What api.example.com answers, by path. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "carts/main": { subtotal: 60 },
  "tax/quote": { tax: 5 },
  invoices: { id: "invoice-1", count: 17 },
  users: { count: 120 },
  orders: { count: 45 },
  revenue: { count: 9_800 },
  "workers/session": { sessionId: "session-1" },
  charges: { chargeId: "charge-flaky" },
  "notebooks/trips": { texts: ["Lisbon", "Oslo"] },
  "notebooks/recipes": { texts: ["Soup"] },
};

/** What api.example.com answers to a request, given as a path and a body of JSON. Undefined: it hangs. */
export function answerOf(
  path: string,
  body: unknown,
): { readonly ok: boolean; readonly status: number; readonly body: unknown } | undefined {
  const { delta, value, amount, attempt } = (typeof body === "string" ? JSON.parse(body) : {}) as Record<
    string,
    number
  >;
  const result = { ok: true, status: 200, body: ANSWERS[path] ?? {} };
  if (path === "counter/apply")
    return { ...result, body: { nextValue: Number(value) + Number(delta), operationId: "operation" } };
  if (path.startsWith("imports/")) return { ...result, body: { rows: 100 } };
  if (path === "workers/process") return { ...result, body: { appliedAmount: amount } };
  // A charge fails at first, hangs then, and goes through in attempt 3.
  if (path === "charges" && attempt === 1) return { ...result, ok: false, status: 503 };
  return path === "charges" && attempt === 2 ? undefined : result;
}

const runs: readonly (Omit<ExampleRun, "registry"> & { readonly registry: unknown })[] = [
  {
    name: "quickstart-simple-workflow",
    registry: simple,
    actor: "invoiceActor",
    state: { invoiceId: "invoice-1", subtotal: 60, tax: 5, total: 65, status: "complete" },
    effects: { "GET carts/main": 1, "POST tax/quote": 1, "POST invoices": 1 },
  },
  {
    name: "quickstart-loops",
    registry: loops,
    actor: "workflowCounter",
    sends: [1, 2, 3].map((delta) => ["counter", () => ({ delta })]),
    state: { value: 6, processed: 3 },
    effects: { "POST counter/apply": 3 },
  },
  {
    name: "quickstart-setup-teardown",
    registry: setupTeardown,
    actor: "setupRunTeardownActor",
    sends: [
      ["work", () => ({ amount: 5 })],
      ["work", () => ({ amount: 3 })],
      ["control", () => ({ type: "stop", reason: "maintenance" })],
    ],
    state: { phase: "stopped", total: 8, processed: 2, stopReason: "maintenance", workerSessionId: "session-1" },
    effects: { "POST workers/session": 1, "POST workers/process": 2, "DELETE workers/session/session-1": 1 },
  },
  {
    name: "timers",
    registry: timers,
    actor: "reminderActor",
    sends: [
      ["reminders", (now) => ({ text: "first", at: now + 60_000 })],
      ["reminders", (now) => ({ text: "second", at: now + 1_000 })],
    ],
    state: { fired: ["first", "second"] },
    effects: {},
  },
  {
    name: "timeouts",
    registry: timeouts,
    actor: "timeoutActor",
    sends: [["charge", () => ({ orderId: "flaky" })]],
    state: { lastChargeId: "charge-flaky" },
    effects: { "POST charges": 3 },
  },
  {
    name: "join",
    registry: join,
    actor: "dashboardActor",
    sends: [["refresh", () => ({})]],
    state: { summary: { users: 120, orders: 45, revenue: 9_800 } },
    effects: { "GET users": 1, "GET orders": 1, "GET revenue": 1 },
  },
  {
    name: "race",
    registry: race,
    actor: "auctionActor",
    sends: [["bids", () => ({ amount: 100 })]],
    state: { result: "sold" },
    effects: { "POST auctions/item-123": 1, "POST auctions/item-123/finalize": 1 },
  },
  {
    name: "race without a bid",
    registry: race,
    actor: "auctionActor",
    lookMs: 3_600_000,
    state: { result: "expired" },
    effects: { "POST auctions/item-123": 1, "POST auctions/item-123/finalize": 1 },
  },
  {
    name: "fan-out-fan-in-join",
    registry: fanOut,
    actor: "fanInOutActor",
    sends: [["any", () => ({})]],
    state: { total: 182 },
    effects: { "GET users": 1, "GET orders": 1, "GET invoices": 1 },
  },
  {
    name: "scatter-gather-across-actors",
    registry: scatterGather,
    actor: "scatterGatherActor",
    sends: [["any", () => ({ input: 7 })]],
    state: { lastSum: 210 },
    effects: { "shardActor a compute": 1, "shardActor b compute": 1, "shardActor c compute": 1 },
  },
  {
    name: "poll-backoff-loop",
    registry: pollBackoff,
    actor: "pollBackoffActor",
    lookMs: 50,
    state: { attempts: 3, backoffMs: 100, status: "healthy" },
    effects: {},
  },
  {
    name: "coordinator-worker-rpc",
    registry: coordinator,
    actor: "coordinatorActor",
    sends: [["any", () => ({ taskId: "task-1", workerId: "w", value: 21 })]],
    state: { lastTaskId: "task-1", lastResult: 42 },
    effects: { "workerActor w runTask": 1 },
  },
  {
    name: "child-worker-orchestration",
    registry: childWorkers,
    actor: "orchestratorActor",
    sends: [["any", () => ({ payload: 2 })]],
    state: { lastTotal: 18 },
    effects: {
      "childWorkerActor k/child-a process": 2,
      "childWorkerActor k/child-b process": 2,
      "childWorkerActor k/child-c process": 2,
    },
  },
  {
    name: "tenant-notes",
    registry: tenantNotes,
    actor: "tenantNotes",
    sends: ["trips", "recipes"].map((notebook) => ["imports", () => ({ notebook })]),
    state: { imported: 3 },
    effects: { "GET notebooks/trips": 1, "GET notebooks/recipes": 1 },
  },
  {
    name: "timeout-fallback-actor",
    registry: fallback,
    actor: "timeoutFallbackActor",
    sends: [["any", () => ({})]],
    state: { lastSource: "fallback", lastValue: "fallback" },
    effects: { "primaryServiceActor main fetchValue": 1, "fallbackServiceActor main fetchValue": 1 },
  },
  {
    name: "live-progress",
    registry: liveProgress,
    actor: "importJob",
    sends: [["orders", () => ({ batches: 3 })]],
    state: { status: "done", batches: 3, imported: 3, rows: 300 },
    effects: { "POST imports/1": 1, "POST imports/2": 1, "POST imports/3": 1 },
  },
];

export const EXAMPLE_RUNS = runs as readonly ExampleRun[];

/** Whether a state has come to what is wanted of it. */
export function isLike(seen: unknown, state: object): boolean {
  return Object.entries(state).every(
    ([name, value]) => JSON.stringify((seen as Record<string, unknown> | undefined)?.[name]) === JSON.stringify(value),
  );
}
