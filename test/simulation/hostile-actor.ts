import { actor, workflow, type AnyActorDefinition } from "../../src/actor/index.js";
import { UserError } from "../../src/protocol/index.js";
import type { ManualClock } from "../../src/testing/index.js";

/** What the ledger remembers; the names are those of operations, unless said otherwise. */
export interface HostileState {
  /** By the id that a caller chose: what was deposited there. */
  accounts: Record<string, { ops: Record<string, number> }>;
  notes: Map<string, unknown>;
  list: unknown[];
  /** Filled while a callback goes on writing through its own reference. */
  replies: Record<string, { content: string }>;
  done: Record<string, unknown>;
  jobs: Record<string, unknown>;
  /** Steps that failed as they were asked to. */
  failed: string[];
  /** Is handed to the state of connections, which changes its own copy. */
  shared: { n: number };
  readings: number[];
  big?: unknown;
}

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of actions, hooks and steps share one signature here
type Context = any;

/** Statements that would make the state one that cannot be stored: each throws, and changes nothing. */
const MISTAKES: Readonly<Record<string, (state: Context, name: string) => void>> = {
  assign: (state, name) => void (state.done[name] = () => {}),
  unshift: (state, name) => state.list.unshift(name, () => {}),
  splice: (state, name) => state.list.splice(1, 0, name, () => {}),
  push: (state, name) => state.list.push(name, Symbol(name)),
  fill: (state) => state.list.fill(() => {}),
  cycle: (state, name) => {
    const loop: Record<string, unknown> = { name };
    loop["self"] = loop;
    state.done[name] = loop;
  },
  deep: (state, name) => {
    let value: unknown = name;
    for (let level = 0; level < 300; level += 1) value = [value];
    state.notes.set(name, value);
  },
  wide: (state, name) => void (state.done[name] = Array.from({ length: 230_000 }, (_, at) => at + 0.5)),
  large: (state, name) => void (state.done[name] = "x".repeat(2_100_000)),
  instance: (state, name) => state.notes.set(name, new (class Account {})()),
  proxy: (state, name) => void (state.done[name] = Promise.resolve(name)),
};
export const MISTAKEN = Object.keys(MISTAKES).filter((kind) => kind !== "wide" && kind !== "large");
/** Take long, and come seldom. */
export const LARGE_MISTAKEN = ["wide", "large"];

const METHODS: ReadonlySet<string> = new Set([
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toString",
  "toLocaleString",
  "valueOf",
]);

/** Works slowly, holds objects of its state across awaits, and is called by whom it must not trust. */
export function ledgerActor(clock: ManualClock, readings: number): AnyActorDefinition {
  return actor({
    createState: (): HostileState => ({
      accounts: {},
      notes: new Map(),
      list: ["first", "second"],
      replies: {},
      done: {},
      jobs: {},
      failed: [],
      shared: { n: 0 },
      readings: Array.from({ length: readings }, (_, at) => at),
    }),
    connState: { said: [] as string[] },
    run: workflow((ctx: Context) => doJobs(ctx, clock)),
    actions: { ...slowActions(clock), ...failingActions(clock), ...laterActions(clock) },
  } as never) as AnyActorDefinition;
}

async function doJobs(ctx: Context, clock: ManualClock): Promise<void> {
  await ctx.loop("jobs", async (loop: Context) => {
    const { body } = await loop.queue.next("job", { names: ["jobs"] });
    const tried = await loop.tryStep({
      name: "work",
      maxRetries: 1,
      retryBackoffBase: 5,
      run: async (step: Context) => {
        if (body.fails) throw new UserError("no order", { metadata: { order: body } });
        await clock.delay(3);
        step.state.jobs[body.name] = body.value;
        return body;
      },
    });
    if (!tried.ok)
      await loop.step(
        "note",
        (step: Context) => void (step.state.failed.includes(body.name) || step.state.failed.push(body.name)),
      );
  });
}

/** What is asked for is done, some of it through an object of the state that was read before. */
function slowActions(clock: ManualClock) {
  return {
    get: (c: Context) => c.state,
    deposit: async (c: Context, id: string, name: string, amount: number) => {
      // What every object has, each view of the state has as well: frozen functions, which are no accounts.
      const account =
        METHODS.has(id) && !Object.hasOwn(c.state.accounts, id)
          ? ((c.state.accounts[id] = { ops: {} }), c.state.accounts[id])
          : (c.state.accounts[id] ??= { ops: {} });
      await clock.delay(4);
      account.ops[name] = amount;
      return Object.keys(account.ops).includes(name);
    },
    /** Of ids that nobody was replied to under: there is nothing to write to. */
    sink: (c: Context, id: string) => {
      const reply = c.state.replies[id];
      if (reply !== undefined) reply.destroyed = true;
      return reply !== undefined;
    },
    note: async (c: Context, name: string, value: unknown) => {
      await clock.delay(1);
      c.state.notes.set(name, value);
    },
    hold: async (c: Context, name: string) => {
      const { notes } = c.state;
      await clock.delay(5);
      notes.set(name, "held");
    },
    reply: async (c: Context, name: string) => {
      const reply = { content: "" };
      c.state.replies[name] = reply;
      c.broadcast("reply", name);
      for (const part of ["a", "b", "c"]) {
        await clock.delay(2);
        reply.content += part;
      }
    },
  };
}

/** What is asked for cannot be done, or is refused after it was. */
function failingActions(clock: ManualClock) {
  return {
    mistake: async (c: Context, name: string, kind: string) => {
      await clock.delay(2);
      (MISTAKES[kind] as (state: Context, name: string) => void)(c.state, name);
    },
    survive: async (c: Context, name: string, kind: string) => {
      let told: unknown;
      try {
        (MISTAKES[kind] as (state: Context, name: string) => void)(c.state, `${name}-never`);
      } catch (error) {
        told = (error as { code: string }).code;
      }
      await clock.delay(2);
      c.state.done[name] = told ?? "nothing was thrown";
    },
    refuse: async (c: Context, name: string, value: unknown) => {
      await clock.delay(1);
      c.state.done[name] = true;
      throw new UserError(`refused ${name}`, { metadata: { value } });
    },
  };
}

/** What comes later, by a schedule or over a connection, and what changes nothing. */
function laterActions(clock: ManualClock) {
  return {
    plan: (c: Context, name: string, value: unknown) => c.schedule.after(20, "planned", name, value),
    planned: async (c: Context, name: string, value: unknown) => {
      await clock.delay(2);
      c.state.done[name] = value;
    },
    keep: (c: Context, key: string, text: string) => c.kv.put(key, text),
    say: async (c: Context, name: string) => {
      c.conn.state.said.push(name);
      c.conn.state.shared = c.state.shared;
      c.conn.state.shared.n += 1;
      await clock.delay(1);
      return c.conn.state.said.length;
    },
    echo: (_: Context, value: unknown) => value,
    touch: () => {},
  };
}

/** Counts what comes through its queue, message by message, while somebody makes mistakes. */
export function tallyActor(): AnyActorDefinition {
  return actor({
    state: { names: [] as string[], done: {} as Record<string, unknown>, list: [] as unknown[], notes: new Map() },
    run: async (c: Context) => {
      const { names } = c.state;
      for await (const message of c.queue.iter()) names.push(message.body);
    },
    actions: {
      get: (c: Context) => c.state,
      mistake: (c: Context, name: string, kind: string) =>
        (MISTAKES[kind] as (state: Context, name: string) => void)(c.state, name),
    },
  } as never) as AnyActorDefinition;
}

/** Nobody calls it; whatever the others are sent, it stays as it is. */
export function neighbourActor(): AnyActorDefinition {
  return actor({ state: { n: 7 }, actions: { get: (c: Context) => c.state.n } } as never) as AnyActorDefinition;
}
