import { describe, expect, it } from "vitest";
import { actor } from "../../../src/actor/index.js";
import { compileActor } from "../../../src/actor/internal.js";

// oxlint-disable-next-line typescript/no-explicit-any -- options that the types forbid
const withOptions = (options: any) => () => actor({ options });

const DURATIONS = [
  "createVarsTimeout",
  "createConnStateTimeout",
  "onBeforeConnectTimeout",
  "onConnectTimeout",
  "onMigrateTimeout",
  "sleepGracePeriod",
  "stateSaveInterval",
  "actionTimeout",
  "connectionLivenessTimeout",
  "connectionLivenessInterval",
  "sleepTimeout",
  "onDestroyTimeout",
  "waitUntilTimeout",
];
const AMOUNTS = [
  "maxQueueSize",
  "maxQueueMessageSize",
  "maxSchedules",
  "preloadMaxWorkflowBytes",
  "preloadMaxConnectionsBytes",
];

describe("options of an actor", () => {
  it("are those of the documentation, with or without effect", () => {
    const numbers = Object.fromEntries([...DURATIONS, ...AMOUNTS].map((name) => [name, 1]));
    const others = {
      name: "n",
      icon: "i",
      noSleep: true,
      canHibernateWebSocket: () => true,
      enableActorRuntimeSocket: false,
    };
    expect(withOptions({ ...numbers, ...others })).not.toThrow();
    expect(withOptions({ canHibernateWebSocket: false, actionTimeout: undefined })).not.toThrow();
    expect(withOptions({})).not.toThrow();
  });

  it("are refused by name where there is no such option", () => {
    for (const name of ["actionTimeOut", "toString", "__proto__x", "onSleepTimeout"]) {
      expect(withOptions({ [name]: 1 }), name).toThrow(new TypeError(`actor(): unknown option "${name}"`));
    }
    for (const options of [null, 1, "options"]) expect(withOptions(options)).toThrow(/"options" must be an object/);
  });

  it.each([...DURATIONS, ...AMOUNTS])("take positive numbers only for %s", (name) => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "60", null, {}, true]) {
      expect(withOptions({ [name]: value }), String(value)).toThrow(
        new TypeError(`actor(): option "${name}" must be a positive, finite number`),
      );
    }
    for (const value of [0.5, 1, 1e300]) expect(withOptions({ [name]: value }), String(value)).not.toThrow();
  });

  it("take what their kind is for the others", () => {
    const wrong = {
      name: [1, true],
      icon: [{}],
      noSleep: ["yes", 1],
      canHibernateWebSocket: ["yes", 0, {}],
      enableActorRuntimeSocket: [1],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values)
        expect(withOptions({ [name]: value }), `${name}: ${String(value)}`).toThrow(
          `actor(): option "${name}" must be a`,
        );
    }
  });

  it("have the documented defaults, each of which one may change alone", () => {
    const defaults = compileActor("a", actor({})).options;
    expect(defaults).toMatchObject({
      actionTimeout: 60_000,
      createVarsTimeout: 5_000,
      createConnStateTimeout: 5_000,
      onBeforeConnectTimeout: 5_000,
      onConnectTimeout: 5_000,
      onMigrateTimeout: 30_000,
      sleepGracePeriod: 15_000,
      maxQueueSize: 1_000,
      maxQueueMessageSize: 65_536,
      maxSchedules: 1_000,
    });
    const changed = compileActor(
      "a",
      actor({ options: { actionTimeout: 1, maxSchedules: undefined as never, stateSaveInterval: 5 } }),
    ).options;
    expect(changed).toEqual({ ...defaults, actionTimeout: 1 });
  });
});
