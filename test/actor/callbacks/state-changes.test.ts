import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { single } from "../subject.js";

interface State {
  n: number;
  list: number[];
  map: Map<string, number>;
  bytes: Uint8Array;
}
const fresh = (): State => ({ n: 0, list: [], map: new Map(), bytes: new Uint8Array(2) });

/** An actor that records the calls of `onStateChange`, in order with everything else. */
function watched(also: object = {}, onStateChange: (c: never, state: State) => unknown = () => {}) {
  const seen: string[] = [];
  const made = single(
    actor({
      state: fresh(),
      vars: { told: 0 },
      onStateChange: (c, state) => {
        seen.push(`told n=${state.n}`);
        return onStateChange(c as never, state);
      },
      actions: {
        add: (c) => {
          c.state.n += 1;
          seen.push("added");
        },
        burst: (c) => {
          for (let i = 0; i < 100; i += 1) {
            c.state.n += 1;
            c.state.list.push(i);
          }
        },
        read: (c) => [c.state.n, [...c.state.list], c.state.map.get("x"), c.state.bytes[0], JSON.stringify(c.state)],
        touch: (c) => {
          c.state.bytes[0] = (c.state.bytes[0] ?? 0) + 1;
        },
        same: (c) => {
          c.state.n = Number(c.state.n);
        },
        vars: (c) => (c.vars.told += 1),
        told: (c) => c.vars.told,
        fail: (c) => {
          c.state.n += 1;
          throw new Error("after a change");
        },
        plan: (c) => c.schedule.after(1_000, "add"),
        spread: async (c) => {
          c.state.n += 1;
          await c.queue.send("other", 1);
          c.state.n += 1;
          await made.world.turn();
          await made.world.turn();
          c.state.n += 1;
        },
        later: (c) =>
          void made.world.clock.delay(500).then(() => {
            c.state.n += 10;
            c.state.n += 10;
          }),
      },
      ...also,
    }),
  );
  return { ...made, seen };
}

describe("onStateChange", () => {
  it("is told once of a burst of changes in one action, with the latest state, before the caller is answered (A26)", async () => {
    const { subject, seen } = watched();
    await subject.call("burst").then(() => seen.push("answered"));
    expect(seen).toEqual(["told n=100", "answered"]);
  });

  it("is told once for each action that changes something (A27)", async () => {
    const { subject, seen } = watched();
    for (let i = 0; i < 3; i += 1) await subject.call("add");
    expect(seen).toEqual(["added", "told n=1", "added", "told n=2", "added", "told n=3"]);
    await Promise.all([1, 2].map(() => subject.call("add").then(() => seen.push("answered"))));
    expect(seen.slice(6), "two in one turn are told of together").toEqual([
      "added",
      "added",
      "told n=5",
      "answered",
      "answered",
    ]);
  });

  it("is not told of reads, of an assignment that changes nothing, of vars, or of the first state (A28)", async () => {
    const { world, subject, seen } = watched({ onCreate: (c: { state: State }) => void (c.state.n = 5) });
    for (const action of ["read", "read", "same", "vars"]) await subject.call(action);
    await world.settle();
    subject.crash();
    await subject.call("read");
    expect(seen).toEqual([]);
    await subject.call("add");
    expect(seen).toEqual(["added", "told n=6"]);
  });

  it("is told of the bytes of an array that change without telling", async () => {
    const { subject, seen } = watched();
    await subject.call("touch");
    expect(seen).toEqual(["told n=0"]);
    await subject.call("read");
    expect(seen).toHaveLength(1);
  });

  it("is told of what hooks of the start change once the vars are there", async () => {
    const { subject, seen } = watched({ onWake: (c: { state: State }) => void (c.state.n += 1) });
    await subject.call("read");
    expect(seen).toEqual(["told n=1"]);
    subject.crash();
    await subject.call("read");
    expect(seen).toEqual(["told n=1", "told n=2"]);
  });

  it("is told of what an action changed that throws", async () => {
    const { subject, seen } = watched();
    await expect(subject.call("fail")).rejects.toThrow();
    expect(seen).toEqual(["told n=1"]);
  });

  it("is told once a turn of what a long action does, whatever is committed meanwhile", async () => {
    const { world, subject, seen } = watched();
    await subject.call("add");
    await world.settle();
    seen.splice(0);
    await subject.call("spread");
    expect(seen).toEqual(["told n=3", "told n=4"]);
  });

  it("is told of changes that outlive their callback, by the end of their turn", async () => {
    const { world, subject, seen } = watched();
    await subject.call("later");
    await world.pass(500);
    expect(seen).toEqual(["told n=20"]);
  });

  it("is told of what scheduled actions change", async () => {
    const { world, subject, seen } = watched();
    await subject.call("plan");
    await world.pass(1_000);
    expect(seen).toEqual(["added", "told n=1"]);
  });

  it("is told of what each step changes, before the workflow goes on", async () => {
    const { world, subject, seen } = watched({
      run: workflow(async (ctx) => {
        for (const name of ["a", "b"]) {
          await ctx.step(name, async (step) => {
            (step.state as State).n += 1;
          });
          seen.push(`after ${name}`);
        }
        await ctx.step("reads", (step) => (step.state as State).n);
        await ctx
          .step({
            name: "fails",
            maxRetries: 0,
            run: (step) => {
              (step.state as State).n += 1;
              throw new Error("no");
            },
          })
          .catch(() => {});
        seen.push("after the failure");
      }),
    });
    await subject.call("read");
    await world.settle();
    expect(seen).toEqual(["told n=1", "after a", "told n=2", "after b", "told n=3", "after the failure"]);
  });

  it("may not change the state, however it reaches it; what it was told of stands (A29)", async () => {
    const codes: string[] = [];
    let captured: { state: State } | undefined;
    const tries: ((state: State, c: { state: State }) => unknown)[] = [
      (state) => (state.n = 99),
      (_state, c) => (c.state.n = 99),
      (_state, c) => (c.state = fresh()),
      (state) => state.list.push(99),
      (state) => delete (state as Partial<State>).n,
      (state) => state.map.set("x", 99),
      (state) => Object.defineProperty(state, "n", { value: 99 }),
      () => (captured as { state: State }).state.n++,
      () => (captured as { state: State }).state.list.push(99),
    ];
    const { subject, log } = watched(
      {
        onWake: (c: { state: State }) => {
          captured = c;
        },
      },
      (c, state) => {
        for (const attempt of tries) {
          try {
            attempt(state, c);
            codes.push("no error");
          } catch (error) {
            codes.push((error as { group: string; code: string }).group + "/" + (error as { code: string }).code);
          }
        }
        state.n = 100;
      },
    );
    await subject.call("add");
    expect(codes).toEqual(tries.map(() => "actor/state_mutation_reentrant"));
    const told = log.filter(
      ({ level, entry }) => level === "error" && String(entry["msg"]).includes("onStateChange failed"),
    );
    expect(told).toHaveLength(1);
    const [n, list, x] = (await subject.call("read")) as unknown[];
    expect([n, list, x]).toEqual([1, [], undefined]);
    await subject.call("add");
    expect(((await subject.call("read")) as unknown[])[0], "others may change it again").toBe(2);
    subject.crash();
    expect(((await subject.call("read")) as unknown[])[0]).toBe(2);
  });

  it("may not change it after an await either, and is not awaited", async () => {
    let code: string | undefined;
    const { world, subject, seen } = watched({}, async (_c, state) => {
      await world.turn();
      await world.clock.delay(1_000);
      try {
        state.n = 99;
      } catch (error) {
        code = (error as { code: string }).code;
      }
    });
    await subject.call("add").then(() => seen.push("answered"));
    expect(seen).toEqual(["added", "told n=1", "answered"]);
    await world.pass(1_000);
    expect(code).toBe("state_mutation_reentrant");
  });

  it("may change vars, with no further call (A30)", async () => {
    const { subject, seen } = watched({}, (c: { vars: { told: number } }) => void (c.vars.told += 1));
    await subject.call("add");
    await subject.call("add");
    expect(await subject.call("told")).toBe(2);
    expect(seen).toEqual(["added", "told n=1", "added", "told n=2"]);
  });

  it("that throws, or gives a promise that rejects, is logged, and the caller is answered", async () => {
    for (const onStateChange of [
      () => {
        throw new Error("the hook fails");
      },
      () => Promise.reject(new Error("the hook fails")),
    ]) {
      const { world, subject, log } = watched({}, onStateChange);
      await subject.call("add");
      await world.settle();
      expect(
        log.filter(({ level, entry }) => level === "error" && String(entry["stack"]).includes("the hook fails")),
      ).toHaveLength(1);
      expect(((await subject.call("read")) as unknown[])[0]).toBe(1);
    }
  });

  it("may ask for the end of its actor", async () => {
    const { world, subject } = watched({}, (c: { destroy(): void }) => c.destroy());
    await subject.call("add");
    await world.settle();
    expect(subject.store.keys).toEqual([]);
  });

  it("is told only of what is stored: an unstorable change is its caller's error", async () => {
    const { subject, seen } = watched({
      actions: {
        bad: (c: { state: State & { text?: string } }) => {
          c.state.text = "x".repeat(2_000_001);
        },
      },
    });
    await expect(subject.call("bad")).rejects.toMatchObject({ group: "value", code: "too_large" });
    expect(seen).toEqual([]);
  });
});
