import { describe, expect, it } from "vitest";
import { actor, db, event, queue, setup, workflow } from "../../../src/actor/index.js";
import { compileActor } from "../../../src/actor/internal.js";

// oxlint-disable-next-line typescript/no-explicit-any -- configurations that the types forbid
const anyActor = actor as (config: any) => { config: object };

describe("actor()", () => {
  it("gives a definition that cannot be changed, and starts nothing", () => {
    const definition = actor({ state: { n: 0 }, actions: { get: (c) => c.state.n } });
    expect(Object.isFrozen(definition)).toBe(true);
    expect(Object.isFrozen(definition.config)).toBe(true);
  });

  for (const [value, create] of [
    ["state", "createState"],
    ["vars", "createVars"],
    ["connState", "createConnState"],
  ] as const) {
    it(`refuses ${value} beside ${create}, naming both (A2)`, () => {
      expect(() => anyActor({ [value]: {}, [create]: () => ({}) })).toThrow(
        new TypeError(`actor(): give either "${value}" or "${create}", not both`),
      );
      expect(() => anyActor({ [value]: {} })).not.toThrow();
      expect(() => anyActor({ [create]: () => ({}) })).not.toThrow();
      expect(() => anyActor({ [value]: undefined, [create]: () => ({}) })).not.toThrow();
    });
  }

  it("refuses a key that it does not know, and a configuration that is none (A1)", () => {
    expect(() => anyActor({ stat: {} })).toThrow(new TypeError('actor(): unknown key "stat"'));
    expect(() => anyActor({ onBeforeActorStart: () => {} })).toThrow(/unknown key/);
    for (const config of [null, undefined, 1, "actor"]) expect(() => anyActor(config)).toThrow(TypeError);
  });

  it("accepts what only declares types", () => {
    expect(() =>
      anyActor({
        types: { anything: true },
        events: { e: event() },
        queues: { q: queue() },
        options: { name: "n", icon: "i", noSleep: true },
      }),
    ).not.toThrow();
  });

  it("refuses hooks that are no functions, by name", () => {
    for (const hook of [
      "createState",
      "createVars",
      "onMigrate",
      "onCreate",
      "onWake",
      "onSleep",
      "onDestroy",
      "onStateChange",
      "onBeforeActionResponse",
      "onBeforeConnect",
      "onConnect",
      "onDisconnect",
      "onRequest",
      "onWebSocket",
    ]) {
      expect(() => anyActor({ [hook]: {} }), hook).toThrow(new TypeError(`actor(): "${hook}" must be a function`));
    }
  });

  it("refuses static values that cannot be copied for each actor or start (A3, A10)", () => {
    expect(() => anyActor({ state: { run: () => {} } })).toThrow(/^actor\(\): "state" cannot be stored: .*state\.run/);
    expect(() => anyActor({ connState: { at: Symbol("x") } })).toThrow(
      /^actor\(\): "connState" cannot be stored: .*connState\.at/,
    );
    expect(() => anyActor({ state: { text: "x".repeat(2_000_001) } })).toThrow(
      /^actor\(\): "state" cannot be stored: .*2000000/,
    );
    for (const vars of [{ double: (n: number) => n * 2 }, new Proxy({}, {}), { at: Symbol("x") }]) {
      expect(() => anyActor({ vars })).toThrow(
        /^actor\(\): "vars" cannot be copied for each start \(use createVars for values with functions\): /,
      );
    }
    expect(() =>
      anyActor({
        state: new Map([[1, new Date(0)]]),
        connState: null,
        vars: { seen: new Set([1]), bytes: new Uint8Array(3) },
      }),
    ).not.toThrow();
  });

  it("refuses actions that are neither functions nor plain objects of them, with their path", () => {
    class Actions {
      go(): void {}
    }
    for (const leaf of [1, "action", null, undefined, [], new Actions(), new Map()]) {
      expect(() => anyActor({ actions: { users: { bad: leaf } } }), String(leaf)).toThrow(
        /action "users\.bad" must be a function, or a plain object/,
      );
    }
    expect(() => anyActor({ actions: new Actions() })).toThrow(TypeError);
  });

  it("refuses two actions that come to the same path (A15)", () => {
    expect(() => anyActor({ actions: { "users.add": () => {}, users: { add: () => {} } } })).toThrow(
      new TypeError('actor(): two actions have the name "users.add"'),
    );
  });

  it("refuses a run that is no handler", () => {
    expect(() => anyActor({ run: { run: async () => {}, label: "x" } })).toThrow(
      new TypeError('actor(): run: unknown key "label"'),
    );
    for (const run of [1, {}, { run: 1 }, null, "run"])
      expect(() => anyActor({ run }), JSON.stringify(run)).toThrow(/"run" must be a function, workflow/);
    for (const run of [async () => {}, { run: async () => {}, name: "n", icon: "i" }, workflow(async () => {})])
      expect(() => anyActor({ run })).not.toThrow();
  });
});

describe("a compiled actor", () => {
  it("has its actions flat, its defaults, and what the options say", () => {
    const compiled = compileActor(
      "named",
      actor({ actions: { a: { b: { c: () => 1 }, d: () => 2 } }, options: { actionTimeout: 5, maxQueueSize: 7 } }),
    );
    expect([...compiled.actions.keys()]).toEqual(["a.b.c", "a.d"]);
    expect(compiled.options).toMatchObject({
      actionTimeout: 5,
      maxQueueSize: 7,
      maxQueueMessageSize: 65_536,
      createVarsTimeout: 5_000,
      onMigrateTimeout: 30_000,
      maxSchedules: 1_000,
    });
    expect([compiled.hasState, compiled.hasVars, compiled.hasRun, compiled.run, compiled.parts]).toEqual([
      false,
      false,
      false,
      undefined,
      [],
    ]);
  });

  it("knows a workflow from a plain run handler", () => {
    const plain = async (): Promise<void> => {};
    expect(compileActor("plain", actor({ run: plain }))).toMatchObject({ run: plain, hasRun: true, parts: [] });
    const withWorkflow = compileActor("flow", actor({ run: workflow(async () => {}) }));
    expect([withWorkflow.run, withWorkflow.hasRun]).toEqual([undefined, true]);
    expect(withWorkflow.parts.map(({ part }) => part.name)).toEqual(["workflow"]);
  });
});

describe("setup()", () => {
  it("finds actors by their names, and no inherited ones", () => {
    const registry = setup({ use: { a: actor({}), b: actor({}) } });
    expect(registry.actorNames).toEqual(["a", "b"]);
    expect(registry.find("a").name).toBe("a");
    for (const name of ["c", "constructor", "__proto__", "toString"])
      expect(() => registry.find(name)).toThrow(expect.objectContaining({ group: "actor", code: "not_registered" }));
  });

  it("refuses what is no registry, and names that no actor can have", () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    const anySetup = setup as (config: any) => unknown;
    for (const config of [undefined, null, {}, { use: null }]) expect(() => anySetup(config)).toThrow(TypeError);
    expect(() => anySetup({ use: { a: {} } })).toThrow(/"a" is not an actor/);
    for (const name of ["", "x".repeat(65)]) expect(() => anySetup({ use: { [name]: actor({}) } }), name).toThrow();
  });

  it("takes as `db` only what db() gives, and db() only what it knows", () => {
    expect(() => actor({ db: db() })).not.toThrow();
    for (const wrong of [{}, null, true, () => {}])
      expect(() => actor({ db: wrong } as never)).toThrow(/"db" must be what db\(\)/);
    expect(() => db({ onMigrate: () => {}, warnOnManualTransactions: false })).not.toThrow();
    for (const wrong of [null, { schema: {} }, { onMigrate: 1 }]) expect(() => db(wrong as never)).toThrow(TypeError);
  });
});
