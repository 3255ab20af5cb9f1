/**
 * Programs that begin effects without awaiting them, under crashes at any commit: what a step has begun is stored with its
 * success, once, and nothing of an attempt that failed.
 */
import { actor, setup, workflow, type Registry } from "../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type WorldActor } from "../../src/testing/index.js";
import { Loop } from "../../src/workflow/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";

export interface EffectsResult {
  readonly seed: number;
  readonly effects: number;
  readonly crashes: number;
  readonly violations: string[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- the program is data, so its contexts have no static shape
type Any = any;

/** What one step does: before its effects it may wait, or fail once with them begun. */
interface Begin {
  readonly name: string;
  readonly delayMs: number;
  readonly failsOnce: boolean;
  /**
   * Sends to queues and another actor, and schedules, in this order; `chain`: sends one after the other in a function
   * that nobody awaits.
   */
  readonly effects: readonly ("fast" | "slow" | "other" | "schedule" | "chain")[];
}

type Part =
  | { readonly kind: "step"; readonly begin: Begin }
  | { readonly kind: "join" | "loop"; readonly name: string; readonly begins: readonly Begin[] }
  | { readonly kind: "scan"; readonly name: string; readonly items: number }
  | { readonly kind: "receive"; readonly name: string };

const EFFECTS = ["fast", "slow", "other", "schedule", "chain"] as const;

function randomParts(random: () => number): Part[] {
  const below = (limit: number): number => Math.floor(random() * limit);
  const begin = (name: string): Begin => ({
    name,
    delayMs: random() < 0.5 ? 0 : below(10),
    failsOnce: random() < 0.25,
    effects: Array.from({ length: below(4) }, () => EFFECTS[below(EFFECTS.length)] ?? "fast"),
  });
  return Array.from({ length: 1 + below(5) }, (_, at): Part => {
    const roll = random();
    if (roll < 0.5) return { kind: "step", begin: begin(`s${at}`) };
    if (roll < 0.65)
      return {
        kind: "join",
        name: `j${at}`,
        begins: Array.from({ length: 1 + below(random() < 0.2 ? 60 : 4) }, (_each, n) => begin(`j${at}b${n}`)),
      };
    if (roll < 0.8)
      return {
        kind: "loop",
        name: `l${at}`,
        begins: Array.from({ length: 1 + below(4) }, (_each, n) => begin(`l${at}i${n}`)),
      };
    if (roll < 0.9) return { kind: "scan", name: `c${at}`, items: 1_000 + below(500) };
    return { kind: "receive", name: `r${at}` };
  });
}

function registryOf(parts: readonly Part[], clock: ManualClock, random: () => number): Registry {
  const slow = {
    "~standard": {
      version: 1,
      vendor: "simulation",
      validate: async (value: unknown) => (await clock.delay(Math.floor(random() * 20)), { value }),
    },
  };
  const run = (step: Any, begin: Begin): unknown => {
    const act = (): void => {
      // A process that has died, before or by a commit of one of these.
      begin.effects.forEach((effect, at) => {
        const id = `${begin.name}#${at}`;
        if (step.abortSignal.aborted) return;
        if (effect === "fast" || effect === "slow") void step.queue.send(effect, id);
        else if (effect === "other") void step.client().other.getOrCreate(["o"]).send("q", id);
        else if (effect === "schedule") void step.schedule.after(5, "tick", id);
        else {
          // Code of a process that has died may still be here, and is told so.
          void (async () => (
            await step.queue.send("slow", `${id}.0`),
            await step.queue.send("slow", `${id}.1`)
          ))().catch(() => {});
        }
      });
      if (step.abortSignal.aborted) return;
      if (begin.failsOnce && step.attempt === 1) throw new Error("with its effects begun");
      step.state.done[begin.name] = (step.state.done[begin.name] ?? 0) + 1;
    };
    return begin.delayMs > 0 ? clock.delay(begin.delayMs).then(act) : act();
  };
  const step = (ctx: Any, begin: Begin): Promise<unknown> =>
    ctx.step({ name: begin.name, retryBackoffMax: 1, run: (s: Any) => run(s, begin) });
  const subject = actor({
    state: { done: {}, ticked: {} } as { done: Record<string, number>; ticked: Record<string, number> },
    queues: { fast: {}, slow: slow as never, in: { complete: slow as never } },
    run: workflow(async (ctx: Any) => {
      for (const part of parts) {
        if (part.kind === "step") await step(ctx, part.begin);
        else if (part.kind === "join")
          await ctx.join(
            part.name,
            Object.fromEntries(part.begins.map((begin) => [begin.name, { run: (b: Any) => step(b, begin) }])),
          );
        else if (part.kind === "loop") {
          await ctx.loop({
            name: part.name,
            state: 0,
            run: async (l: Any, n: number) => (
              await step(l, part.begins[n] as Begin),
              n + 1 < part.begins.length ? Loop.continue(n + 1) : Loop.break(n)
            ),
          });
        } else if (part.kind === "scan")
          await ctx.loop({
            name: part.name,
            state: 0,
            run: async (_: Any, n: number) => (n < part.items ? Loop.continue(n + 1) : Loop.break(n)),
          });
        else {
          await ctx.try(part.name, async (block: Any) => {
            const message = await block.queue.next("in", { names: ["in"], completable: true });
            void message.complete(`did ${message.body}`);
          });
        }
      }
    }),
    actions: {
      get: (c) => c.state,
      tick: (c, id: string) => void (c.state.ticked[id] = (c.state.ticked[id] ?? 0) + 1),
    },
  });
  const other = actor({ state: {}, run: async () => {}, actions: { get: () => 1 } });
  return setup({ use: { subject, other } }) as unknown as Registry;
}

export async function simulateEffects(seed: number): Promise<EffectsResult> {
  const random = seededRandom(seed);
  const parts = randomParts(random);
  const clock = new ManualClock();
  const violations: string[] = [];
  const fault = occasionalCrashes(random, [0, 0.03, 0.1, 0.2][seed % 4] ?? 0);
  const world = testWorld(registryOf(parts, clock, random), {
    clock,
    fault: (each, commit) => (each.name === "subject" ? fault(commit) : undefined),
  });
  const subject = world.actor("subject", ["k"]);
  for (let tries = 0; tries < 50 && !subject.store.keys.includes("a"); tries += 1) {
    await subject.call("get").catch(() => undefined);
    await world.settle();
  }
  const receives = parts.filter(({ kind }) => kind === "receive").length;
  for (let n = 0; n < receives; n += 1) {
    for (let tries = 0, sent = false; tries < 50 && !sent; tries += 1)
      sent = await subject.send({ mode: "get" }, { kind: "send", queue: "in", body: encodeValue(n) }).then(
        ({ ok }) => ok,
        () => false,
      );
    await world.passUntilQuiet();
  }
  for (let round = 0; round < 50 && statusOf(subject) !== "completed"; round += 1) await world.pass(5 * 60_000);
  await world.passUntilQuiet();
  check(subject, world.actor("other", ["o"]), parts, (what) => violations.push(what));
  const effects = beginsOf(parts).reduce((sum, begin) => sum + begin.effects.length, 0);
  return { seed, effects, crashes: subject.crashes, violations };
}

function check(subject: WorldActor, other: WorldActor, parts: readonly Part[], say: (what: string) => void): void {
  if (statusOf(subject) !== "completed") return say(`ended ${statusOf(subject)}`);
  const { done, ticked } = decodeValue(subject.store.dump().get("s") as Uint8Array) as {
    done: Record<string, number>;
    ticked: Record<string, number>;
  };
  const [here, there] = [messagesOf(subject), messagesOf(other)];
  const wanted: string[] = [];
  for (const begin of beginsOf(parts)) {
    // State that changes before something that takes its time is stored on its own: a crash in between changes it again.
    const isAtOnce = begin.effects.every((effect) => effect === "fast");
    if (isAtOnce ? done[begin.name] !== 1 : !done[begin.name])
      say(`${begin.name} finished ${done[begin.name] ?? 0} times`);
    const own: string[] = [];
    begin.effects.forEach((effect, at) => {
      const id = `${begin.name}#${at}`;
      if (effect === "fast" || effect === "slow") own.push(id);
      else if (effect === "chain") own.push(`${id}.0`, `${id}.1`);
      else if (effect === "other" && !there.includes(id)) say(`${id} did not come to the other actor`);
      else if (effect === "schedule" && !ticked[id]) say(`${id} was never run`);
    });
    // In the order of the calls, but for what a function that nobody awaits sends in its own time.
    const order = here.filter((id) => own.includes(id) && !id.includes("."));
    if (order.join() !== own.filter((id) => !id.includes(".")).join()) say(`${begin.name} sent ${order.join(" ")}`);
    wanted.push(...own);
  }
  for (const id of wanted)
    if (here.filter((each) => each === id).length !== 1)
      say(`${id} is there ${here.filter((each) => each === id).length} times`);
  for (const id of here) if (!wanted.includes(id) && !/^\d+$/.test(id)) say(`${id} is there, and belongs to no step`);
  // One that its sender sent twice for want of an answer may be left.
  if (here.some((id) => /^\d+$/.test(id)) && subject.crashes === 0) say("a message was not completed");
}

function beginsOf(parts: readonly Part[]): Begin[] {
  return parts.flatMap((part) =>
    part.kind === "step" ? [part.begin] : part.kind === "join" || part.kind === "loop" ? part.begins : [],
  );
}

function messagesOf(actor: WorldActor): string[] {
  return [...actor.store.dump()]
    .filter(([key]) => key.startsWith("m/"))
    .sort(([a], [b]) => Number(a.slice(2)) - Number(b.slice(2)))
    .map(([, bytes]) => String(decodeValue((decodeValue(bytes) as [string, Uint8Array])[1])));
}

function statusOf(actor: WorldActor): string | undefined {
  const record = actor.store.dump().get("a");
  return record && (decodeValue(record) as { workflow: { status: string } }).workflow.status;
}
