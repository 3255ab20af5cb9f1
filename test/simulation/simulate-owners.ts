import { objectInspector, recordHistory } from "../../src/actor/index.js";
import { decodeJson, decodeValue, encodeValue, type InspectQuestion } from "../../src/protocol/index.js";
import { ManualClock, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";
import { ownerRegistry } from "./owner-actor.js";
import { OwnerOracle } from "./owner-oracle.js";
import { breakables, hasRollback, ownerProgram, redeploy, type Node } from "./owner-programs.js";
import { together } from "./time.js";

export interface OwnersResult {
  readonly seed: number;
  readonly deploys: number;
  /** Recovers, replays and cancels that did something. */
  readonly operations: number;
  readonly crashes: number;
  readonly commits: number;
  readonly violations: string[];
  readonly trace: string;
}

const EVENTS = [
  "deploy",
  "deploy",
  "deploy",
  "evict",
  "evict",
  "send",
  "send",
  "send",
  "send at the deadline",
  "send at the deadline",
  "touch",
  "recover",
  "recover",
  "recover",
  "replay",
  "replay",
  "repair",
  "repair",
  "break",
  "cancel",
  "cancel undoing",
  "retry",
  "skip",
  "skip",
  "skip",
  "pause",
  "resume",
  "resume",
] as const;
/** Codes with which an act may be refused. */
const REFUSALS = new Set([
  "restarting",
  "workflow_in_flight",
  "step_not_found",
  "not_a_step",
  "rolling_back",
  "step_passed",
]);
/** So many times everything is repaired and recovered: each time the run must get further. */
const ROUNDS = 60;

function statusIn(rows: ReadonlyMap<string, Uint8Array>): string {
  const record = rows.get("a");
  if (!record) return "none";
  const { workflow } = decodeValue(record) as { workflow: { status: string; paused?: unknown } };
  return workflow.paused ? "paused" : workflow.status;
}

/** A program that its owners deploy anew, and whose run they steer, at any time: in the end, repaired, it is completed. */
export async function simulateOwners(
  seed: number,
  /** Sees the rows whenever they have become durable, and what is deployed then; `now` in epoch ms. */
  onlooker?: (rows: ReadonlyMap<string, Uint8Array>, now: number, program: Node[]) => void,
): Promise<OwnersResult> {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const violations: string[] = [];
  const trace: string[] = [];
  const say = (what: string): void =>
    void (violations.length < 20 && violations.push(`${clock.now() % 1_000_000_000} ${what}`));
  let program: Node[] = ownerProgram(random);
  const undoes = hasRollback(program);
  const broken = new Set(breakables(program).filter(() => random() < 0.25));
  const oracle = new OwnerOracle(say, () => clock.now());
  let isStarting = false;
  /** The rows of the last commit, if the process that made it lives. */
  let committed: ReadonlyMap<string, Uint8Array> | undefined;
  const isPaused = (): boolean => {
    notice();
    return statusIn(committed ?? subject.store.dump()) === "paused";
  };
  const watch = {
    broken,
    waited: oracle.waited.bind(oracle),
    placeholder: oracle.placeholder.bind(oracle),
    answered: oracle.answered.bind(oracle),
    planned: (plan: { sentence: string }, wrong: string) => say(`a dry run told "${plan.sentence}", ${wrong}`),
    began: () => {
      if (isStarting) say("the workflow began before its start was over");
      if (isPaused()) say("the workflow began although it is paused");
    },
    attempted: (location: readonly (string | number)[]) => {
      // After a crash an attempt is recorded before its callback is called: it may have begun before the pause.
      if (isPaused() && !oracle.isRunning(location)) say(`${location.join("/")} began although the workflow is paused`);
    },
    /** In every third, each start lets a failed run try again. */
    woke: async (workflow: { recover(): void }) => {
      isStarting = true;
      if (seed % 3 === 0) workflow.recover();
      await undefined;
      isStarting = false;
    },
  };
  // Of its own, so that operators change nothing else of a seed.
  const operator = seededRandom(seed * 7_919);
  const fault = occasionalCrashes(random, [0, 0, 0.04, 0.1][seed % 4] ?? 0);
  let isOver = false;
  const world = testWorld(ownerRegistry(program, undoes, clock, watch), {
    clock,
    inspector: objectInspector(recordHistory),
    fault: (_, commit) => (isOver ? undefined : fault(commit)),
    onCommit: (_, rows, alarmAt) => {
      notice();
      trace.push(`${clock.now()} commit ${[...rows.keys()].join(",")} ${alarmAt}`);
      committed = rows;
      oracle.committed(rows);
    },
    onDurable: (_, rows) => {
      oracle.durable(rows);
      onlooker?.(rows, clock.now(), program);
    },
    onLog: (level, entry) => {
      const { code, msg } = entry as { code?: string; msg?: string };
      trace.push(`${clock.now()} ${level} ${String(msg ?? entry)}`);
      if (String(code).includes("diverged") || level === "fatal" || /internal error/i.test(String(msg)))
        say(`log: ${String(msg)}`);
    },
  });
  const subject: WorldActor = world.actor("subject", ["k"]);
  let crashes = 0;
  const notice = (): void => {
    if (subject.crashes !== crashes) {
      oracle.crashed();
      committed = undefined;
    }
    crashes = subject.crashes;
  };
  let deploys = 0;
  let operations = 0;
  let sent = 0;

  const call = async (action: string, ...args: unknown[]): Promise<unknown> => {
    try {
      return await Promise.race([subject.call(action, ...args), subject.died()]);
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (!REFUSALS.has(code)) say(`${action} failed with ${code} ${String(error)}`);
      return undefined;
    }
  };
  /** An operator's question or act, below the start gate where there is no activation. */
  const ask = async (question: object): Promise<unknown> => {
    const operation = { kind: "resolve", inspect: question as InspectQuestion } as const;
    const reply = await Promise.race([
      subject.send({ mode: "get" }, operation).catch(() => undefined),
      subject.died().then(() => undefined),
    ]);
    if (reply?.ok) return decodeJson(new TextDecoder().decode(reply.output));
    const code = reply?.error.code;
    if (code !== undefined && !REFUSALS.has(code))
      say(`an operator's ${JSON.stringify(question)} failed with ${code} ${reply?.error.message}`);
    return undefined;
  };
  /** A look changes nothing, and shows the status that is stored. */
  const look = async (): Promise<void> => {
    const [before, commits] = [status(), subject.store.commits];
    const seen = (await ask({ about: "history", limit: 1_000 })) as { status: { status: string } } | undefined;
    if (subject.store.commits !== commits) say("a look was followed by a commit");
    if (seen && seen.status.status !== "diverged" && seen.status.status !== before)
      say(`a look showed ${seen.status.status}, and ${before} is stored`);
  };
  const send = async (queue: string): Promise<void> => {
    const body = `m${(sent += 1)}`;
    const begunAt = clock.now();
    const before = oracle.timeouts;
    const reply = await Promise.race([
      subject.send({ mode: "getOrCreate" }, { kind: "send", queue, body: encodeValue(body) }).catch(() => undefined),
      subject.died(),
    ]);
    if (reply?.ok && reply.output)
      oracle.acknowledged(body, queue, (decodeValue(reply.output) as { createdAt: number }).createdAt, begunAt, before);
  };
  const status = (): string => statusIn(subject.store.dump());
  const operate = async (action: string, ...args: unknown[]): Promise<void> => {
    const before = status();
    const rows = subject.store.commits;
    const isInspector = operator() < 0.5;
    trace.push(`${clock.now()} ${action} ${before}${isInspector ? " by an operator" : ""}`);
    await (isInspector
      ? ask({
          about: action,
          by: "ada",
          ...(args[0] !== undefined && { [action === "cancel" ? "rollback" : "id"]: args[0] }),
          ...(action === "skip" && { value: encodeValue("by hand") }),
        })
      : call(action, ...args));
    if (subject.store.commits > rows) operations += 1;
  };
  const pickId = async (): Promise<string | undefined> => {
    const ids = ((await call("ids")) as string[] | undefined) ?? [];
    return random() < 0.1 ? undefined : (ids[Math.floor(random() * ids.length)] ?? "no such entry");
  };
  const happen = async (event: (typeof EVENTS)[number]): Promise<void> => {
    switch (event) {
      case "deploy":
        deploys += 1;
        program = redeploy(program, random, deploys);
        world.deploy(ownerRegistry(program, undoes, clock, watch));
        return random() < 0.5 ? void (await call("get")) : send("nobody reads this");
      case "evict":
        return subject.crash();
      case "send":
        return send(random() < 0.5 ? "a" : "b");
      case "send at the deadline": {
        const { alarmAt } = subject.store;
        if (random() < 0.7) subject.crash();
        if (alarmAt !== null && alarmAt < clock.now() + 10_000 && alarmAt >= clock.now()) clock.moveTo(alarmAt);
        return send(random() < 0.5 ? "a" : "b");
      }
      case "touch":
        return void (await call("get"));
      case "pause":
      case "resume":
      case "retry":
      case "recover":
        return operate(event);
      case "replay":
        await operate("replayFrom", await pickId());
        return random() < 0.5 ? operate("replayFrom", await pickId()) : undefined;
      case "cancel":
        return random() < 0.3 ? operate("cancel", false) : undefined;
      case "skip": {
        const id = (await call("held")) ?? (await pickId());
        return operate("skip", id ?? "no such entry");
      }
      case "cancel undoing":
        return operate("cancel", true);
      case "repair":
      case "break": {
        const all = event === "repair" ? [...broken] : breakables(program);
        const one = all[Math.floor(random() * all.length)];
        if (one !== undefined) broken[event === "repair" ? "delete" : "add"](one);
      }
    }
  };

  for (let tries = 0; tries < 20 && !subject.store.keys.includes("a"); tries += 1) await together(world, call("get"));
  const count = 4 + Math.floor(random() * 16);
  for (let index = 0; index < count; index += 1) {
    if (random() < 0.8) await world.pass(Math.floor(random() * 2_500));
    const event = EVENTS[Math.floor(random() * EVENTS.length)] ?? "touch";
    trace.push(`${clock.now()} ${event}`);
    await together(world, happen(event));
    notice();
    await look();
  }
  isOver = true;
  broken.clear();
  for (let round = 0; round < ROUNDS && status() !== "completed"; round += 1) {
    for (const queue of ["a", "b", "a", "b"]) await together(world, send(queue));
    if (status() === "paused") await together(world, operate("resume"));
    if (status() === "failed") await together(world, operate("recover"));
    else if (status() === "cancelled") await together(world, operate("replayFrom"));
    await world.pass(30_000);
  }
  await world.passUntilQuiet(3_600_000);
  if (status() !== "completed")
    say(`ended ${status()}: ${JSON.stringify(((await call("status")) as { error?: unknown })?.error)}`);
  else oracle.ended();
  if (subject.holdsLease || subject.store.alarmAt !== null || subject.timersHeld > 0)
    say("a lease, an alarm or a timer is left");
  return {
    seed,
    deploys,
    operations,
    crashes: subject.crashes,
    commits: subject.store.commits,
    violations,
    trace: trace.join("\n"),
  };
}
