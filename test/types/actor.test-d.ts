// What actor() infers, without an annotation in user code.
import {
  actor,
  event,
  queue,
  setup,
  type ActionContextOf,
  type ActorContextOf,
  type ActorCron,
  type AnyActorDefinition,
  type BeforeActionResponseContextOf,
  type BeforeConnectContextOf,
  type ConnContextOf,
  type ConnectContextOf,
  type ConnInitContextOf,
  type CreateConnStateContextOf,
  type CreateContextOf,
  type CreateStateContextOf,
  type CreateVarsContextOf,
  type CronHistoryEntry,
  type CronJobInfo,
  type DestroyContextOf,
  type DisconnectContextOf,
  type MigrateContextOf,
  type RequestContextOf,
  type RunContextOf,
  type ScheduledEvent,
  type ScheduledFireInfo,
  type SleepContextOf,
  type StandardSchema,
  type StateChangeContextOf,
  type WakeContextOf,
  type WebSocketContextOf,
  type WorkflowHistoryEntry,
  type WorkflowStatus,
} from "perdure";
import { workflow } from "perdure/workflow";
import { exactly } from "./exactly.js";

interface OrderState {
  limit: number;
  items: string[];
}

// state and vars
export const cart = actor({
  state: { result: null as "sold" | "expired" | null, items: [] as string[] },
  vars: { seen: new Set<string>() },
  onWake: (c) => {
    exactly<{ seen: Set<string> }>()(c.vars);
    exactly<"sold" | "expired" | null>()(c.state.result);
  },
  run: async (c) => {
    exactly<string[]>()(c.state.items);
    exactly<{ seen: Set<string> }>()(c.vars);
  },
  actions: {
    getState: (c) => c.state,
    add: (c, item: string, count = 1) => {
      for (let i = 0; i < count; i++) c.state.items.push(item);
      // @ts-expect-error the literals keep their declared type
      c.state.result = "lost";
      // @ts-expect-error no such member
      return c.state.total;
    },
    nested: { deep: { size: (c) => c.state.items.length }, first: async (c) => c.state.items[0] },
    log: (c) => {
      exactly<string>()(c.actorId);
      exactly<string[]>()(c.key);
      exactly<AbortSignal>()(c.abortSignal);
      exactly<Request | undefined>()(c.request);
      exactly<WorkflowStatus>()(c.workflow.status());
      exactly<WorkflowHistoryEntry[]>()(c.workflow.history());
      exactly<Promise<Date>>()(c.keepAwake(Promise.resolve(new Date())));
      // @ts-expect-error identity cannot be assigned
      c.name = "x";
    },
  },
});

// createState: the input of both, and the state in everything that follows
export const order = actor({
  createState: (c, input: { limit: number }) => {
    exactly<string>()(c.actorId);
    // There is no state yet.
    exactly<never>()(c.state);
    // @ts-expect-error nor vars
    void c.vars;
    return { limit: input.limit, items: [] as string[] };
  },
  createVars: (c) => {
    exactly<OrderState>()(c.state);
    // @ts-expect-error there are no vars yet
    void c.vars;
    return { max: c.state.limit };
  },
  onMigrate: (c, isNew) => {
    exactly<boolean>()(isNew);
    exactly<OrderState>()(c.state);
  },
  onCreate: (c, input) => {
    exactly<{ limit: number }>()(input);
    exactly<OrderState>()(c.state);
  },
  onWake: (c) => exactly<{ max: number }>()(c.vars),
  run: async (c) => exactly<OrderState>()(c.state),
  actions: {
    limit: (c) => {
      exactly<OrderState>()(c.state);
      exactly<{ max: number }>()(c.vars);
      return c.state.limit;
    },
  },
  onDestroy: (c) => exactly<OrderState>()(c.state),
});

// createState: only actions after it; async; as a method; without parameters; the input known from onCreate alone
export const actionsOnly = actor({
  createState: (_c, input: { limit: number }) => ({ limit: input.limit, items: [] as string[] }),
  actions: { get: (c) => exactly<OrderState>()(c.state), group: { get: (c) => exactly<OrderState>()(c.state) } },
});
export const asynchronous = actor({
  createState: async (_c, input: number) => ({ limit: input, items: [] as string[] }),
  actions: { get: (c) => exactly<OrderState>()(c.state) },
});
export const asMethod = actor({
  createState(c, input: number) {
    return { limit: input, items: [...c.key] };
  },
  actions: { get: (c) => exactly<OrderState>()(c.state) },
});
export const withoutParameters = actor({
  createState: () => ({ limit: 1, items: [] as string[] }),
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => exactly<OrderState>()(step.state));
  }),
  actions: { get: (c) => exactly<OrderState>()(c.state) },
});
export const inputInOnCreate = actor({
  state: { limit: 0 },
  onWake: (c) => exactly<number>()(c.state.limit),
  run: async (c) => exactly<number>()(c.state.limit),
  onCreate: (c, input: { limit: number }) => {
    c.state.limit = input.limit;
  },
});

// createState before a workflow. The compiler takes the properties of a literal from left to right, and a call inside it,
// workflow(…), sees what earlier callbacks return only if a callback in between has named it. Annotating the result, or `c`,
// makes it known at once; actions and hooks know it in any case.
export const annotatedResult = actor({
  createState: (_c, input: { limit: number }): OrderState => ({ limit: input.limit, items: [] }),
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => exactly<OrderState>()(step.state));
  }),
});
export const annotatedContext = actor({
  createState: (_c: unknown, input: { limit: number }) => ({ limit: input.limit, items: [] as string[] }),
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => exactly<OrderState>()(step.state));
  }),
});
export const hookInBetween = actor({
  createState: (_c, input: { limit: number }) => ({ limit: input.limit, items: [] as string[] }),
  onWake: (c) => c.log.info(`up to ${c.state.limit}`),
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => exactly<OrderState>()(step.state));
  }),
});
export const limitation = actor({
  createState: (_c, input: { limit: number }) => ({ limit: input.limit, items: [] as string[] }),
  run: workflow(async (ctx) => {
    await ctx.step("look", (step) => exactly<unknown>()(step.state));
    // @ts-expect-error 'step.state' is of type 'unknown'
    await ctx.step("use", (step) => step.state.limit);
  }),
  actions: { get: (c) => exactly<OrderState>()(c.state) },
});

// both forms of run
export const runObject = actor({
  state: { n: 0 },
  run: {
    name: "loop",
    icon: "x",
    run: workflow(async (ctx) => ctx.step("look", (step) => exactly<{ n: number }>()(step.state))),
  },
});
export const runPlain = actor({ state: { n: 0 }, run: { run: async (c) => exactly<{ n: number }>()(c.state) } });

// a workflow made outside of any actor
const somewhere = workflow(async (ctx) => ctx.sleep("a while", 10));
export const shared = [actor({ run: somewhere }), actor({ state: { n: 0 }, run: somewhere })];

// mistakes
// @ts-expect-error unknown key
actor({ state: {}, onwake: () => {} });
// @ts-expect-error an action is a function
actor({ actions: { five: 5 } });
// @ts-expect-error both of createState and onCreate get the same input
actor({ createState: (_c, input: number) => ({ input }), onCreate: (_c, input: string) => input.length });
// @ts-expect-error an option in ms
actor({ options: { actionTimeout: "1s" } });
// @ts-expect-error not an actor
setup({ use: { cart: {} } });

// helper types
export function helpers(
  base: ActorContextOf<typeof order>,
  action: ActionContextOf<typeof order>,
  run: RunContextOf<typeof order>,
  createState: CreateStateContextOf<typeof order>,
  create: CreateContextOf<typeof order>,
  createVars: CreateVarsContextOf<typeof order>,
  migrate: MigrateContextOf<typeof order>,
  wake: WakeContextOf<typeof order>,
  destroy: DestroyContextOf<typeof order>,
  request: RequestContextOf<typeof order>,
  others: {
    sleep: SleepContextOf<typeof order>;
    stateChange: StateChangeContextOf<typeof order>;
    beforeResponse: BeforeActionResponseContextOf<typeof order>;
    beforeConnect: BeforeConnectContextOf<typeof order>;
    createConnState: CreateConnStateContextOf<typeof order>;
    connInit: ConnInitContextOf<typeof order>;
    connect: ConnectContextOf<typeof order>;
    conn: ConnContextOf<typeof order>;
    disconnect: DisconnectContextOf<typeof order>;
    webSocket: WebSocketContextOf<typeof order>;
  },
): void {
  const {
    sleep,
    stateChange,
    beforeResponse,
    beforeConnect,
    createConnState,
    connInit,
    connect,
    conn,
    disconnect,
    webSocket,
  } = others;
  for (const c of [sleep, stateChange, beforeResponse, disconnect]) {
    exactly<OrderState>()(c.state);
    exactly<number>()(c.conns.size);
    // @ts-expect-error nobody calls
    void c.conn;
  }
  for (const c of [beforeConnect, createConnState, connInit]) {
    exactly<{ max: number }>()(c.vars);
    exactly<Request | undefined>()(c.request);
    // @ts-expect-error not yet connected
    void c.conn;
  }
  for (const c of [connect, conn, webSocket, action, request]) {
    exactly<string>()(c.conn.id);
    exactly<Request | undefined>()(c.request);
  }
  for (const c of [
    base,
    action,
    run,
    wake,
    destroy,
    request,
    sleep,
    stateChange,
    beforeResponse,
    beforeConnect,
    connect,
    conn,
    disconnect,
    webSocket,
  ]) {
    exactly<OrderState>()(c.state);
    exactly<{ max: number }>()(c.vars);
  }
  for (const c of [create, createVars, migrate]) {
    exactly<OrderState>()(c.state);
    // @ts-expect-error before the vars
    void c.vars;
  }
  exactly<never>()(createState.state);
  exactly<Request | undefined>()(action.request);
  exactly<Request | undefined>()(request.request);
}
/** What the actor's own callbacks get is what the helper types say. */
export const same = actor({
  state: { n: 0 },
  vars: { v: "" },
  onWake: (c) => exactly<WakeContextOf<typeof twin>>()(c),
  onCreate: (c) => exactly<CreateContextOf<typeof twin>>()(c),
  run: async (c) => exactly<RunContextOf<typeof twin>>()(c),
  actions: { a: (c) => exactly<ActionContextOf<typeof twin>>()(c) },
});
const twin = actor({ state: { n: 0 }, vars: { v: "" } });

// the hooks beside a life's own: none of them changes what is inferred
export const hooked = actor({
  state: { n: 0 },
  vars: { v: "" },
  onStateChange: (c, state) => {
    exactly<{ n: number }>()(state);
    exactly<StateChangeContextOf<typeof twin>>()(c);
  },
  onSleep: async (c) => exactly<SleepContextOf<typeof twin>>()(c),
  onBeforeActionResponse: (c, name, args, output) => {
    exactly<BeforeActionResponseContextOf<typeof twin>>()(c);
    exactly<string>()(name);
    exactly<unknown[]>()(args);
    return output;
  },
  actionInputSchemas: { add: numbers, nested: { get: numbers }, "nested.first": numbers },
  inspector: {
    tabs: [
      { id: "mine", label: "Mine", source: "./mine.html" },
      { id: "state", hidden: true },
    ],
  },
  actions: {
    add: (c, by: number) => {
      c.sleep();
      c.setPreventSleep(true);
      exactly<boolean>()(c.preventSleep);
      return (c.state.n += by);
    },
    nested: { get: (c) => c.state.n, first: (c) => c.vars.v },
  },
});
declare const numbers: StandardSchema<[string], [number]>;
/** As RivetKit's documentation writes it. */
export const responded = actor({
  actions: { get: () => 1 },
  onBeforeActionResponse: <Out>(_c: unknown, _name: string, _args: unknown[], output: Out): Out => output,
});
// @ts-expect-error a schema is a Standard Schema
actor({ actions: { add: () => 1 }, actionInputSchemas: { add: (value: unknown) => value } });
// @ts-expect-error a hook is a function
actor({ onSleep: true });
// @ts-expect-error a tab has an id
actor({ inspector: { tabs: [{ label: "Mine" }] } });

// schedules
export const scheduled = actor({
  onCreate: (c) => c.cron.every({ name: "poll", interval: 60_000, action: "wake", args: ["text"] }),
  onWake: async (c) => {
    exactly<ActorCron>()(c.cron);
    await c.cron.set({
      name: "daily",
      expression: "0 9 * * *",
      timezone: "Europe/Berlin",
      action: "wake",
      maxHistory: 5,
    });
    // @ts-expect-error an expression, not an interval
    await c.cron.set({ name: "daily", interval: 60_000, action: "wake" });
    // @ts-expect-error it needs a name
    await c.cron.every({ interval: 60_000, action: "wake" });
  },
  actions: {
    jobs: async (c) => {
      const job = await c.cron.get("daily");
      exactly<CronJobInfo | undefined>()(job);
      if (job?.kind === "cron") exactly<string>()(job.timezone);
      if (job?.kind === "every") exactly<number>()(job.interval);
      exactly<CronJobInfo[]>()(await c.cron.list());
      exactly<boolean>()(await c.cron.delete("daily"));
      const [newest] = await c.cron.history("daily", { limit: 1 });
      exactly<CronHistoryEntry | undefined>()(newest);
      exactly<"running" | "ok" | "error" | "skipped" | undefined>()(newest?.result);
    },
    later: async (c) => {
      exactly<string>()(await c.schedule.after(1000, "wake", "text"));
      exactly<string>()(await c.schedule.at(Date.now(), "wake", "text"));
      exactly<ScheduledEvent | undefined>()(await c.schedule.get("id"));
      exactly<ScheduledEvent[]>()(await c.schedule.list());
      exactly<boolean>()(await c.schedule.cancel("id"));
      // @ts-expect-error ms
      await c.schedule.after("1s", "wake");
    },
    wake: (_c, text: string, info: ScheduledFireInfo) => {
      exactly<"at" | "cron" | "every">()(info.kind);
      exactly<number>()(info.firedAt);
      exactly<string | undefined>()(info.name);
      return text;
    },
  },
});

// c.client()
export const caller = actor({
  actions: {
    untyped: async (c) => {
      const answer = await c.client().anyActor.getOrCreate(["x"]).anything(1, "2");
      exactly<any>()(answer);
    },
    typed: async (c): Promise<number> => {
      const client = c.client<typeof registry>();
      exactly<number>()(await client.order.get("a").limit());
      // @ts-expect-error no such actor
      void client.nothing;
      // @ts-expect-error no such action
      await client.order.get("a").nothing();
      return 1;
    },
  },
});
export const registry = setup({ use: { cart, order, caller } });

// a definition keeps its types
export const declared = actor({
  events: { moved: event<{ x: number }>() },
  queues: { jobs: queue<{ id: string }, number>() },
});
export const anyDefinition: AnyActorDefinition[] = [cart, order, declared, limitation, scheduled];
