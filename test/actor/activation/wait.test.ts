import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  abortedBy,
  Timers,
  wait,
  waitFor,
  type Settle,
  type TimedCall,
  type WaitEnds,
} from "../../../src/actor/internal.js";

/** A wait with a deadline and two signals, which the test ends. */
class Waiting {
  readonly calls = new Set<TimedCall>();
  readonly first = new AbortController();
  readonly second = new AbortController();
  readonly timers = {
    add: (call: TimedCall) => void this.calls.add(call),
    remove: (call: TimedCall) => void this.calls.delete(call),
  };
  readonly ends: WaitEnds<string> = {
    deadline: { at: 10, outcome: () => "deadline" },
    aborts: [abortedBy(this.first.signal), { signal: this.second.signal, outcome: () => "second" }],
  };
  settle!: Settle<string>;
  stopped = 0;

  begin(ends: WaitEnds<string> = this.ends): Promise<string> {
    const waiting = wait(this.timers, ends, (settle) => {
      this.settle = settle;
      return () => void (this.stopped += 1);
    });
    return waiting.catch((error: Error) => `threw ${error.message}`);
  }

  fire(): void {
    for (const call of this.calls) {
      this.calls.delete(call);
      call.fire();
    }
  }

  get held(): number {
    return (
      this.calls.size +
      [this.first, this.second].reduce((sum, { signal }) => sum + getEventListeners(signal, "abort").length, 0)
    );
  }
}

describe("a wait", () => {
  it.each<[string, (waiting: Waiting) => void, string]>([
    ["its result", ({ settle }) => settle.resolve("result"), "result"],
    ["its failure", ({ settle }) => settle.reject(new Error("failure")), "threw failure"],
    ["its deadline", (waiting) => waiting.fire(), "deadline"],
    ["a signal, with its reason", ({ first }) => first.abort(new Error("reason")), "threw reason"],
    ["a signal, with an outcome of its own", ({ second }) => second.abort(), "second"],
  ])("ends with %s, and holds nothing then", async (_what, end, outcome) => {
    const waiting = new Waiting();
    const ended = waiting.begin();
    expect(waiting.held).toBe(3);
    end(waiting);
    expect([waiting.held, waiting.stopped]).toEqual([0, 1]);
    expect(await ended).toBe(outcome);
  });

  it("rejects with what an outcome throws", async () => {
    const waiting = new Waiting();
    const outcome = (): never => {
      throw new Error("too late");
    };
    const ended = waiting.begin({ deadline: { at: 10, outcome }, aborts: [] });
    waiting.fire();
    expect([await ended, waiting.held, waiting.stopped]).toEqual(["threw too late", 0, 1]);
  });

  const ENDS: Record<string, (waiting: Waiting) => void> = {
    result: ({ settle }) => settle.resolve("result"),
    deadline: (waiting) => waiting.fire(),
    second: ({ second }) => second.abort(),
  };
  const PAIRS = Object.keys(ENDS).flatMap((one) =>
    Object.keys(ENDS).flatMap((other) => (one === other ? [] : [[one, other] as const])),
  );
  it.each(PAIRS)("that its %s ends is over: its %s in the same turn changes nothing", async (one, other) => {
    const waiting = new Waiting();
    const ended = waiting.begin();
    ENDS[one]?.(waiting);
    ENDS[other]?.(waiting);
    expect([await ended, waiting.held, waiting.stopped]).toEqual([one, 0, 1]);
  });

  it("ends as it begins, where a signal has aborted: the first of them counts", async () => {
    const waiting = new Waiting();
    waiting.second.abort();
    waiting.first.abort(new Error("reason"));
    expect([await waiting.begin(), waiting.held, waiting.stopped]).toEqual(["threw reason", 0, 1]);
  });

  it("ends as it begins, where its signal aborts meanwhile, or its result is there at once", async () => {
    for (const end of [ENDS["result"], ENDS["second"]]) {
      const waiting = new Waiting();
      const ended = wait(waiting.timers, waiting.ends, (settle) => {
        waiting.settle = settle;
        end?.(waiting);
        return () => void (waiting.stopped += 1);
      });
      expect([await ended, waiting.held, waiting.stopped]).toEqual([
        end === ENDS["result"] ? "result" : "second",
        0,
        1,
      ]);
    }
  });

  it("whose release brings an abort about rejects with that: what it would have given is lost with the activation", async () => {
    const { timers, ends, first } = new Waiting();
    const ended = wait(timers, ends, ({ resolve }) => {
      queueMicrotask(() => resolve("result"));
      return () => first.abort(new Error("lost"));
    });
    await expect(ended).rejects.toThrow("lost");
  });

  it("without a deadline holds no timer", async () => {
    const waiting = new Waiting();
    const ended = waiting.begin({ ...waiting.ends, deadline: undefined });
    expect([waiting.calls.size, waiting.held]).toEqual([0, 2]);
    ENDS["result"]?.(waiting);
    expect(await ended).toBe("result");
  });

  it("that a promise ends: an abort in the turn in which it resolved comes before it", async () => {
    const { timers, ends, second } = new Waiting();
    let resolve: (value: string) => void = () => {};
    const ended = waitFor(timers, ends, new Promise<string>((fulfil) => (resolve = fulfil)));
    resolve("result");
    second.abort();
    expect(await ended).toBe("second");
  });

  it("that began after its signal had aborted leaves no rejection of its promise unhandled", async () => {
    const { timers, ends, second } = new Waiting();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    second.abort();
    expect(await waitFor(timers, ends, Promise.reject(new Error("nobody's")))).toBe("second");
    await new Promise((turn) => setImmediate(turn));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("holds the one timer of an activation no longer than it lasts", async () => {
    let setFor: number | undefined;
    const timers = new Timers(
      { set: (at) => void (setFor = at), clear: () => void (setFor = undefined) },
      () => 0,
      () => {},
    );
    const { ends, second } = new Waiting();
    const ended = waitFor(timers, ends, new Promise<string>(() => {}));
    expect(setFor).toBe(10);
    second.abort();
    expect([await ended, setFor]).toEqual(["second", undefined]);
  });
});
