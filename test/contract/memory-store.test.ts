import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import {
  CrashError,
  MemoryStore,
  storeContract,
  type StoreLife,
  type StoreUnderTest,
} from "../../src/testing/index.js";

/** A store in memory; a crash ends the visit there. */
function make(): StoreUnderTest {
  const store = new MemoryStore({
    nextTurn: (run) => setImmediate(run),
    openDatabase: () => new DatabaseSync(":memory:"),
  });
  const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    async visit(body) {
      let crashed = false;
      const crash = async (): Promise<never> => {
        crashed = true;
        store.crash();
        throw new CrashError("The process died");
      };
      try {
        await body({ store, nextTurn, crash });
      } catch (error) {
        if (!crashed) throw error;
      }
    },
  };
}

storeContract({ make, describe, it, expect, hasSql: true });

describe("the contract's skips", () => {
  /** Runs the suite with a runner of its own and gives each test's outcome. */
  async function outcomes(
    skip: { test: string; reason: string }[],
    makeStore: () => StoreUnderTest,
  ): Promise<Record<string, string>> {
    const tests: [string, () => Promise<void>][] = [];
    storeContract({
      make: makeStore,
      describe: (_name, body) => body(),
      it: (name, body) => tests.push([name, body]),
      expect,
      skip,
    });
    const results: Record<string, string> = {};
    for (const [name, body] of tests)
      results[name] = await body().then(
        () => "passed",
        (error: Error) => error.message,
      );
    return results;
  }

  it("let a test that fails pass, and say why in its name", async () => {
    const forgetful = (): StoreUnderTest => {
      const subject = make();
      const store = {
        activate: () => ({
          ...proxied(new MemoryStore({ nextTurn: setImmediate }).activate()),
          sync: () => Promise.reject(new Error("no sync")),
        }),
      };
      return { visit: (body: (life: StoreLife) => Promise<void>) => subject.visit((life) => body({ ...life, store })) };
    };
    const test = "sync with nothing to confirm resolves";
    expect((await outcomes([], forgetful))[test]).toBe("no sync");
    expect((await outcomes([{ test, reason: "it cannot" }], forgetful))[`${test} (known to fail: it cannot)`]).toBe(
      "passed",
    );
  });

  it("fail the run when the test passes after all", async () => {
    const test = "sync with nothing to confirm resolves";
    const results = await outcomes([{ test, reason: "it could not" }], make);
    expect(results[`${test} (known to fail: it could not)`]).toBe(`"${test}" passes now: take it out of the skips`);
  });

  it("fail the run when they name no test", async () => {
    const results = await outcomes([{ test: "never heard of", reason: "a typo" }], make);
    expect(results["every skip names a test of the contract"]).toContain("never heard of");
  });
});

/** The methods of an activation as own properties. */
function proxied(activation: ReturnType<MemoryStore["activate"]>): ReturnType<MemoryStore["activate"]> {
  return {
    get isCurrent() {
      return activation.isCurrent;
    },
    get: (key) => activation.get(key),
    list: (prefix) => activation.list(prefix),
    commit: (batch) => activation.commit(batch),
    getAlarm: () => activation.getAlarm(),
    sync: () => activation.sync(),
    deleteAll: () => activation.deleteAll(),
  };
}
