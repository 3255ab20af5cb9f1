/** The actor that goes to sleep now and then, and what is known of its lives whatever it stores. */
import { actor, setup, workflow, type AnyActorDefinition, type Registry } from "../../src/actor/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import { Loop } from "../../src/workflow/index.js";

export const SLEEP_TIMEOUT_MS = 150;
/** The message that ends the workflow. */
export const LAST = "the last one";

export interface State {
  readonly added: Record<string, number>;
  readonly ticked: Record<string, number>;
  readonly received: Record<string, number>;
}

export /** One life of the actor in memory, from its `onWake` on; a place in `vars`. */
interface Life {
  readonly number: number;
  /** Which process it lives in: a crash or an eviction begins another. */
  readonly process: string;
  phase: "awake" | "going to sleep" | "asleep" | "ending" | "destroyed";
}

export interface SleepingPorts {
  readonly clock: ManualClock;
  readonly hasWorkflow: boolean;
  readonly asksInOnSleep: "nothing" | "send" | "schedule" | "destroy";
  readonly crashRate: number;
  /** Which process lives: a crash or an eviction begins another. */
  readonly process: () => string;
  /** Nothing disturbs any more. */
  readonly isCalm: () => boolean;
  readonly note: (what: string) => void;
  readonly say: (what: string) => void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of all kinds share one signature here
type Context = any;

export class SleepingActor {
  sleeps = 0;
  /** Counts lives of the key: what was asked of one ends with it. */
  ends = 0;
  /** What clients asked for, and whether they were told that it is done. */
  readonly asked = {
    added: new Map<string, boolean>(),
    ticked: new Map<string, boolean>(),
    received: new Map<string, boolean>(),
  };
  last: Life | undefined;
  #lives = 0;
  readonly #ports: SleepingPorts;

  constructor(ports: SleepingPorts) {
    this.#ports = ports;
  }

  registry(): Registry {
    const definition = actor({
      state: { added: {}, ticked: {}, received: {} },
      createVars: (): Life => this.#begin(),
      onWake: (c: Context) => this.#ports.note(`life ${c.vars.number}`),
      onSleep: (c: Context) => this.#fallAsleep(c),
      onDestroy: (c: Context) => this.#end(c),
      run: this.#ports.hasWorkflow ? workflow((ctx: Context) => this.#takeInSteps(ctx)) : (c: Context) => this.#take(c),
      actions: this.#actions(),
      options: { sleepTimeout: SLEEP_TIMEOUT_MS, sleepGracePeriod: 1_000 },
    } as never) as AnyActorDefinition;
    return setup({ use: { subject: definition } }) as unknown as Registry;
  }

  /** The actor ends: nothing that was asked of it, or is being asked, is promised any more. */
  forget(): void {
    this.ends += 1;
    for (const asked of Object.values(this.asked)) for (const id of asked.keys()) asked.set(id, false);
  }

  #begin(): Life {
    this.#lives += 1;
    const life: Life = { number: this.#lives, process: this.#ports.process(), phase: "awake" };
    const before = this.last;
    if (before?.process === life.process && before.phase !== "asleep" && before.phase !== "destroyed")
      this.#ports.say(`life ${life.number} begins while life ${before.number} is ${before.phase}`);
    this.last = life;
    return life;
  }

  async #fallAsleep(c: Context): Promise<void> {
    this.#awake(c, "onSleep");
    if (!c.aborted) this.#ports.say("onSleep, and the signal has not fired");
    c.vars.phase = "going to sleep";
    this.sleeps += 1;
    await this.#ports.clock.delay(Math.floor(c.vars.number % 4) * 3);
    await this.#ask(c);
    c.vars.phase = "asleep";
    this.#ports.note(`life ${c.vars.number} is asleep`);
  }

  async #end(c: Context): Promise<void> {
    if (c.vars) c.vars.phase = "ending";
    await this.#ports.clock.delay(Math.floor(this.#lives % 3) * 5);
    if (c.vars) c.vars.phase = "destroyed";
    this.#ports.note("destroyed");
    this.forget();
  }

  async #takeInSteps(ctx: Context): Promise<void> {
    await ctx.loop("messages", async (loop: Context) => {
      const message = await loop.queue.next("message", { timeout: 400 }).catch((error: { code: string }) => {
        if (error.code !== "timed_out") throw error;
      });
      if (!message) return undefined;
      await loop.step("take", async (step: Context) => {
        this.#awake(step, "a step begins");
        await this.#ports.clock.delay(3);
        this.#awake(step, "a step goes on");
        count(step.state.received, message.body);
      });
      return message.body === LAST ? Loop.break(undefined) : undefined;
    });
  }

  async #take(c: Context): Promise<void> {
    while (!c.aborted) {
      const message = await c.queue.next({ completable: true }).catch(() => undefined);
      if (!message) return;
      count(c.state.received, message.body);
      await message.complete();
    }
  }

  #actions() {
    return {
      add: async (c: Context, id: string) => {
        this.#awake(c, "an action begins");
        await this.#ports.clock.delay(2);
        this.#awake(c, "an action goes on");
        count(c.state.added, id);
      },
      tick: async (c: Context, id: string) => {
        this.#awake(c, "a scheduled action begins");
        await this.#ports.clock.delay(2);
        this.#awake(c, "a scheduled action goes on");
        count(c.state.ticked, id);
      },
      schedule: (c: Context, id: string, ms: number) => c.schedule.after(ms, "tick", id),
      keep: (c: Context, ms: number) =>
        void c.keepAwake(this.#ports.clock.delay(ms).then(() => this.#awake(c, "what was kept awake ends"))),
      wait: (c: Context, ms: number) => c.waitUntil(this.#ports.clock.delay(ms)),
      sleep: (c: Context) => c.sleep(),
      destroy: (c: Context) => {
        this.forget();
        c.destroy();
      },
      read: () => {},
    };
  }

  #awake(c: Context, what: string): void {
    const life = c.vars as Life;
    // What runs when its actor is destroyed may go on for a while, and changes nothing.
    if (life.phase === "ending" || life.phase === "destroyed") return;
    if (life.phase !== "awake") this.#ports.say(`${what} in life ${life.number}, which is ${life.phase}`);
    if (life.process === this.#ports.process() && life !== this.last)
      this.#ports.say(`${what} in life ${life.number}, though another one has begun`);
  }

  /** Of seeds that ask for it: what the hook asks of its own actor is done by later lives, and keeps nobody awake. */
  async #ask(c: Context): Promise<void> {
    if (this.#ports.isCalm() || this.#ports.asksInOnSleep === "nothing" || this.sleeps % 3 !== 0) return;
    if (this.#ports.asksInOnSleep === "destroy") {
      this.forget();
      c.destroy();
      await this.#ports.clock.delay(1);
      return;
    }
    const id = `asked by sleep ${this.sleeps}`;
    const before = this.ends;
    const asked = this.#ports.asksInOnSleep === "send" ? this.asked.received : this.asked.ticked;
    asked.set(id, false);
    if (this.#ports.asksInOnSleep === "send") await c.queue.send("in", id);
    else await c.schedule.after(this.sleeps % 2 === 0 ? 0 : 200, "tick", id);
    // Nobody told the hook that it is on disk.
    asked.set(id, this.#ports.crashRate === 0 && before === this.ends);
  }
}

function count(record: Record<string, number>, id: string): void {
  record[id] = (record[id] ?? 0) + 1;
}
