import { setup } from "../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { ManualClock, type MemorySocket, type WorldActor } from "../../src/testing/index.js";
import { seededRandom } from "../support/seeded-random.js";
import { testWorld } from "../support/test-world.js";
import { occasionalCrashes } from "./faults.js";
import {
  LARGE_MISTAKEN,
  ledgerActor,
  MISTAKEN,
  neighbourActor,
  tallyActor,
  type HostileState,
} from "./hostile-actor.js";
import { HOSTILE_IDS, nested, oddValue } from "./hostile-values.js";

export interface HostileResult {
  readonly seed: number;
  readonly commits: number;
  readonly crashes: number;
  readonly operations: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly violations: string[];
  readonly trace: string;
}

/** What of a life must be true from the moment on at which its caller was told. */
type Holds = (state: HostileState) => boolean;

const STEPS = 30;
/** Readings with which every so many-th actor begins: beyond what one call can take as arguments. */
const MANY = 130_000;
/** An error of a caller who did nothing wrong may only say that the object died. */
const OF_A_DEATH = new Set(["restarting", "starting", "stopping"]);

/** Several callers of one actor, some of them hostile, with deaths; each is told the truth, and nobody else pays for it. */
export async function simulateHostile(seed: number): Promise<HostileResult> {
  const random = seededRandom(seed);
  const clock = new ManualClock();
  const crashRate = [0, 0.02, 0.06][seed % 3] ?? 0;
  const violations: string[] = [];
  const trace: string[] = [];
  const say = (what: string): void =>
    void (violations.length < 20 && violations.push(`${clock.now() % 1_000_000_000} ${what}`));
  const faults = occasionalCrashes(random, crashRate);
  const promised: (readonly [what: string, holds: Holds])[] = [];
  const totals = { operations: 0, acknowledged: 0, refused: 0 };
  const pending = new Set<Promise<void>>();
  let isFaulty = true;
  let injected = 0;
  const world = testWorld(
    setup({
      use: {
        ledger: ledgerActor(clock, seed % 32 === 0 ? MANY : 0),
        tally: tallyActor(),
        neighbour: neighbourActor(),
      } as never,
    }),
    {
      clock,
      fault: ({ name }, commit) => {
        const fault = isFaulty && name !== "neighbour" ? faults(commit) : undefined;
        if (fault) injected += 1;
        return fault;
      },
      onLog: (level, entry) => {
        const line = JSON.stringify(entry, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
        if (level === "error" || level === "fatal") trace.push(`${clock.now()} ${line.slice(0, 300)}`);
        if (
          /could not be encoded|internal error/.test(line) &&
          !/CrashError|process died|activation is over/.test(line)
        )
          say(`log: ${line.slice(0, 300)}`);
      },
    },
  );
  const [ledger, tally, neighbour] = [
    world.actor("ledger", ["k"]),
    world.actor("tally", ["k"]),
    world.actor("neighbour", ["k"]),
  ];
  await neighbour.call("get");
  const neighbourRows = rowsOf(neighbour);
  const tallied = new Set<string>();

  /** Something that a caller does beside the others: it is told, or its object dies first. */
  const begin = (
    what: string,
    target: WorldActor,
    something: Promise<unknown>,
    told: (outcome: { readonly value: unknown } | { readonly error: Refusal }) => void,
  ): void => {
    totals.operations += 1;
    const ended = Promise.race([
      something.then(
        (value) => told({ value }),
        (error: Refusal) => told({ error }),
      ),
      target.died(),
    ]).then(() => void pending.delete(ended));
    pending.add(ended);
    trace.push(`${clock.now()} ${what}`);
  };
  /** By somebody who does nothing wrong. */
  const good = (what: string, something: Promise<unknown>, holds?: Holds, target = ledger, expected?: unknown): void =>
    begin(what, target, something, (outcome) => {
      if ("error" in outcome)
        return void (
          OF_A_DEATH.has(outcome.error.code ?? "") ||
          say(`${what} was refused: ${outcome.error.group}/${outcome.error.code} ${outcome.error.message}`)
        );
      totals.acknowledged += 1;
      if (expected !== undefined && outcome.value !== expected) say(`${what} was told ${String(outcome.value)}`);
      if (holds) promised.push([what, holds]);
    });
  /** By somebody whose request cannot be met: told so, in its own words, with nothing changed. */
  const bad = (
    what: string,
    something: Promise<unknown>,
    isRight: (error: Refusal) => boolean,
    holds: Holds,
    target = ledger,
  ): void =>
    begin(what, target, something, (outcome) => {
      if (!("error" in outcome)) return say(`${what} was not refused`);
      if (OF_A_DEATH.has(outcome.error.code ?? "")) return;
      totals.refused += 1;
      if (!isRight(outcome.error))
        say(`${what} was told ${outcome.error.group}/${outcome.error.code} ${outcome.error.message}`);
      promised.push([what, holds]);
    });
  const check = (): void => {
    const bytes = ledger.store.dump().get("s");
    if (!bytes) return;
    const state = decodeValue(bytes) as HostileState;
    for (const [what, holds] of promised) if (!holds(state)) say(`broken: ${what}`);
    if (state.list.length !== 2) say(`the list is ${String(state.list)}`);
    if (state.shared.n !== 0) say(`a connection's state wrote to the actor's: ${state.shared.n}`);
    if (state.readings.length !== (seed % 32 === 0 ? MANY : 0)) say(`${state.readings.length} readings are left`);
    for (const [id, { ops }] of Object.entries(state.accounts))
      for (const name of Object.keys(ops))
        if (!name.endsWith(`@${id}`)) say(`${name} was booked on ${JSON.stringify(id)}`);
  };

  const clients: MemorySocket[] = [];
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const operations: readonly (readonly [weight: number, run: (name: string) => void])[] = [
    [
      10,
      (name) => {
        const id = pick(HOSTILE_IDS);
        const op = `${name}@${id}`;
        good(
          `deposit ${op}`,
          ledger.call("deposit", id, op, totals.operations),
          ({ accounts }) => own(own(accounts, id)?.ops, op) !== undefined,
          ledger,
          true,
        );
      },
    ],
    [
      3,
      (name) =>
        good(
          `sink ${name}`,
          ledger.call("sink", pick(["__proto__", "constructor", "prototype", "nobody"])),
          undefined,
          ledger,
          false,
        ),
    ],
    [
      8,
      (name) => {
        const value = oddValue(random);
        good(
          `note ${name}`,
          ledger.call("note", name, value),
          ({ notes }) => notes.has(name) && isSame(notes.get(name), value),
        );
      },
    ],
    [4, (name) => good(`hold ${name}`, ledger.call("hold", name), ({ notes }) => notes.get(name) === "held")],
    [5, (name) => good(`reply ${name}`, ledger.call("reply", name), ({ replies }) => replies[name]?.content === "abc")],
    [
      10,
      (name) => {
        const kind = pick(seed % 8 === 0 ? [...MISTAKEN, ...LARGE_MISTAKEN] : MISTAKEN);
        bad(
          `mistake ${kind} ${name}`,
          ledger.call("mistake", name, kind),
          ({ group, code }) => group === "value" && (code === "not_serializable" || code === "too_large"),
          (state) => !isAnywhere(state, name),
        );
      },
    ],
    [
      5,
      (name) => {
        const kind = pick(MISTAKEN);
        good(
          `survive ${kind} ${name}`,
          ledger.call("survive", name, kind),
          (state) =>
            /^(?:not_serializable|too_large)$/.test(String(state.done[name])) && !isAnywhere(state, `${name}-never`),
        );
      },
    ],
    [
      5,
      (name) => {
        const value = oddValue(random);
        const isRight = ({ code, message, metadata }: Refusal): boolean =>
          code === "user_error" &&
          message === `refused ${name}` &&
          isSame((metadata as { value: unknown } | undefined)?.value, value);
        bad(`refuse ${name}`, ledger.call("refuse", name, value), isRight, ({ done }) => done[name] === true);
      },
    ],
    [
      3,
      (name) => {
        const value = oddValue(random);
        good(
          `echo ${name}`,
          ledger.call("echo", value).then((answer) => isSame(answer, value)),
          undefined,
          ledger,
          true,
        );
      },
    ],
    [3, (name) => good(`keep ${name}`, ledger.call("keep", pick(HOSTILE_IDS.filter((id) => id !== "")), name))],
    [
      5,
      (name) => {
        const value = oddValue(random);
        begin(
          `plan ${name}`,
          ledger,
          ledger.call("plan", name, value),
          (outcome) =>
            void (
              "value" in outcome &&
              owed.push([`plan ${name}`, ({ done }) => Object.hasOwn(done, name) && isSame(done[name], value)])
            ),
        );
      },
    ],
    [
      8,
      (name) => {
        const value = random() < 0.1 ? nested(197) : oddValue(random);
        const fails = random() < 0.4;
        const send = ledger.send(
          { mode: "getOrCreate" },
          { kind: "send", queue: "jobs", body: encodeValue({ name, value, fails }) },
        );
        begin(`job ${name}`, ledger, send, (outcome) => {
          if (!("value" in outcome) || !(outcome.value as { ok: boolean }).ok) return;
          owed.push([
            `job ${name}`,
            ({ jobs, failed }) =>
              fails ? failed.includes(name) : Object.hasOwn(jobs, name) && isSame(jobs[name], value),
          ]);
        });
      },
    ],
    [
      6,
      (name) => {
        const send = tally.send({ mode: "getOrCreate" }, { kind: "send", queue: "n", body: encodeValue(name) });
        begin(
          `count ${name}`,
          tally,
          send,
          (outcome) => void ("value" in outcome && (outcome.value as { ok: boolean }).ok && tallied.add(name)),
        );
      },
    ],
    [
      4,
      (name) =>
        bad(
          `mistake at the tally ${name}`,
          tally.call("mistake", name, pick(["unshift", "push", "cycle", "deep", "assign"])),
          ({ group }) => group === "value",
          () => true,
          tally,
        ),
    ],
    [
      3,
      (name) =>
        begin(
          `connect ${name}`,
          ledger,
          ledger.connect({ params: { name } }),
          (outcome) => void ("value" in outcome && clients.push(outcome.value as MemorySocket)),
        ),
    ],
    [
      6,
      (name) => {
        const client = pick(clients);
        if (client?.isOpen) begin(`say ${name}`, ledger, client.call(totals.operations, "say", name), () => {});
      },
    ],
    [3, () => void (crashRate > 0 && (ledger.crash(), (injected += 1)))],
    [2, (name) => begin(`evict ${name}`, ledger, ledger.evict(), () => {})],
  ];
  const owed: (readonly [what: string, holds: Holds])[] = [];

  for (let step = 0; step < STEPS; step += 1) {
    for (let beside = 0; beside < 1 + random() * 3; beside += 1) pickWeighted(operations, random)(`o${step}.${beside}`);
    await world.pass(Math.floor(random() * 6));
    if (step % (seed % 32 === 0 ? 8 : 3) === 0) check();
  }
  isFaulty = false;
  for (let rounds = 0; rounds < 60 && pending.size > 0; rounds += 1) await world.pass(50);
  if (pending.size > 0) say(`${pending.size} calls came to no end`);
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await world.pass(400_000);
    for (const each of [ledger, tally]) {
      each.crash();
      injected += 1;
      await each
        .call("get")
        .catch((error: Refusal) =>
          say(`${each.name} cannot be read at the end: ${error.group}/${error.code} ${error.message}`),
        );
    }
  }
  await world.pass(400_000);
  promised.push(...owed);
  check();
  const { names } = (await tally.call("get")) as { names: string[] };
  for (const name of tallied) if (!names.includes(name)) say(`count ${name} was acknowledged, and is lost`);
  if (rowsOf(neighbour) !== neighbourRows) say("the neighbour's rows have changed");
  const crashes = ledger.crashes + tally.crashes;
  // A death at a commit that had just died is one.
  if (crashes > injected) say(`${crashes} deaths, of which ${injected} were none of the actor's own`);
  for (const name of Object.keys(Object.prototype)) {
    say(`Object.prototype.${name} was written`);
    Reflect.deleteProperty(Object.prototype, name);
  }
  return {
    seed,
    commits: ledger.store.commits + tally.store.commits,
    crashes,
    ...totals,
    violations,
    trace: trace.join("\n"),
  };
}

interface Refusal {
  readonly group?: string;
  readonly code?: string;
  readonly message?: string;
  readonly metadata?: unknown;
}

/** Own properties only: the names may be inherited ones. */
function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? (Object.getOwnPropertyDescriptor(record, key)?.value as T) : undefined;
}

function isAnywhere({ notes, list, done }: HostileState, name: string): boolean {
  return notes.has(name) || list.includes(name) || Object.hasOwn(done, name);
}

function isSame(a: unknown, b: unknown): boolean {
  return Buffer.compare(encodeValue(a), encodeValue(b)) === 0;
}

function rowsOf({ store }: WorldActor): string {
  return [...store.dump()].map(([key, bytes]) => `${key} ${Buffer.from(bytes).toString("hex")}`).join();
}

function pickWeighted<T>(choices: readonly (readonly [weight: number, choice: T])[], random: () => number): T {
  let roll = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    roll -= weight;
    if (roll < 0) return choice;
  }
  return (choices[0] as readonly [number, T])[1];
}
