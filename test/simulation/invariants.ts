/** What must hold whenever something has become durable, and at every turn in between. */
import { decodeValue } from "../../src/protocol/index.js";
import { deadlinesIn, holdsLease } from "../../src/testing/index.js";
import { heldMessages, isTerminal, takenMessages } from "../../src/workflow/index.js";
import { decodeEntry, type Entry } from "../../src/workflow/internal.js";
import type { ProgramState } from "./program-state.js";

export type Rows = ReadonlyMap<string, Uint8Array>;

export interface StoredActor {
  readonly actorId: string;
  readonly destroyed?: boolean;
  readonly workflow: {
    readonly status: string;
    readonly failure?: { readonly error: { readonly message: string } };
    readonly times?: readonly [startedAt: number, ms?: number];
  };
}

/** What an actor has stored, read. */
export interface Stored {
  readonly record: StoredActor;
  readonly state: ProgramState;
  readonly entries: Entry[];
  /** Messages in the queue, held ones too, by body. */
  readonly queued: Map<string, { readonly id: number; readonly queue: string; readonly createdAt: number }>;
}

const LAST_BACKOFF_MS = 300_000;
const YEAR_MS = 365 * 24 * 3_600_000;
const FIRST_RETRY_MS = 10_000;
const LONGEST_LEASE_MS = 10_000;
/** The clock of a simulation jumps back now and then, by so much in all at most. */
const MOST_BACK_MS = 3_000;

/** A row that did not change is the same bytes: most of a snapshot was read before. */
const readBefore = new WeakMap<object, unknown>();

function once<K extends object, T>(key: K, make: (key: K) => T): T {
  if (!readBefore.has(key)) readBefore.set(key, make(key));
  return readBefore.get(key) as T;
}

export function read(rows: Rows): Stored | undefined {
  const record = rows.get("a");
  if (!record) return undefined;
  return {
    // A life that began while the code had no workflow.
    record: {
      workflow: { status: "none" },
      ...(decodeValue(record) as Omit<StoredActor, "workflow"> & Partial<StoredActor>),
    },
    state: once(rows.get("s") as Uint8Array, decodeValue) as ProgramState,
    entries: [...rows]
      .filter(([key]) => key.startsWith("e/"))
      .map(([key, bytes]) => once(bytes, () => decodeEntry(Number(key.slice(2)), bytes))),
    queued: new Map(
      [...rows]
        .filter(([key]) => key.startsWith("m/"))
        .map(([key, bytes]) => {
          const [queue, body, createdAt] = once(bytes, decodeValue) as [string, Uint8Array, number];
          return [String(once(body, decodeValue)), { id: Number(key.slice(2)), queue, createdAt }] as const;
        }),
    ),
  };
}

/** Where a step stands in its program. */
export function pathOf(entry: Entry): string {
  return `/${entry.location.map((segment) => (typeof segment === "number" ? `~${segment}` : segment)).join("/")}`;
}

export function isProgramStep(entry: Entry): boolean {
  return entry.kind === "step" && entry.location[0] !== -1 && /^s\d+$/.test(String(entry.location.at(-1)));
}

/** Steps in a race may have changed the state and then lost. */
function isInRace(path: string): boolean {
  return /\/c\d+\//.test(path);
}

/** One actor's history of invariants, over all of its lives. */
export class Invariants {
  readonly #say: (what: string) => void;
  readonly #dead = new Set<string>();
  #life: string | undefined;
  #isDestroyed = false;
  #ended: string | undefined;
  #latest = 0;
  /** Of the present life, by what may not change any more. */
  #terminal = new Map<number, string>();
  #startedAt = new Map<number, number | undefined>();
  #known = new Set<string>();
  #queued: ReadonlyMap<string, unknown> = new Map();
  /** Steps that were recorded and messages that were taken, by life. */
  readonly #finished = new Map<string, Set<string>>();
  readonly #taken = new Map<string, Set<string>>();
  /** False while no code is deployed that can serve the actor: then its alarm may come later than what is due. */
  isServed = true;

  constructor(say: (what: string) => void) {
    this.#say = say;
  }

  /** Lives that are over: they were deleted. */
  get dead(): ReadonlySet<string> {
    return this.#dead;
  }

  /** True if that message was stored in that life, or the life is over. */
  knows(life: string, body: string): boolean {
    return life !== this.#life || this.#known.has(body);
  }

  /** True for a message that stands in the queue of that life. */
  isQueued(life: string, body: string): boolean {
    return life === this.#life && this.#queued.has(body);
  }

  /** What a commit leaves behind, before it is durable: what is recorded and pruned in one turn shows only here. */
  committed(rows: Rows, alarmAt: number | null, now: number, alarmIsLost: boolean): void {
    this.#latest = Math.max(this.#latest, now);
    const stored = read(rows);
    if (!stored) return;
    if (!alarmIsLost || alarmAt !== null) this.#checkAlarm(stored, rows, alarmAt);
    const { actorId } = stored.record;
    for (const entry of stored.entries) {
      if (entry.status === "completed" && isProgramStep(entry)) ofLife(this.#finished, actorId).add(pathOf(entry));
      for (const body of bodiesOf(entry)) ofLife(this.#taken, actorId).add(body);
    }
  }

  durable(rows: Rows, alarmAt: number | null, now: number, alarmIsLost: boolean): void {
    this.#latest = Math.max(this.#latest, now);
    const stored = read(rows);
    if (!stored) {
      if (rows.size > 0) this.#say(`rows without an actor: ${[...rows.keys()].join(" ")}`);
      if (this.#life !== undefined) this.#dead.add(this.#life);
      this.#life = undefined;
      return;
    }
    this.#lifeOf(stored);
    this.#checkTerminal(stored);
    this.#checkTimes(stored);
    this.#checkMessages(stored);
    this.#checkFold(stored);
    if (!alarmIsLost || alarmAt !== null) this.#checkAlarm(stored, rows, alarmAt);
  }

  /** A life begins on a blank key only, and none comes back; nor does one that is marked as destroyed. */
  #lifeOf({ record }: Stored): void {
    const { actorId } = record;
    if (this.#dead.has(actorId)) this.#say(`${actorId} is dead, and stored again`);
    if (this.#life !== actorId) {
      if (this.#life !== undefined) this.#say(`${actorId} took the place of ${this.#life}`);
      this.#life = actorId;
      this.#isDestroyed = false;
      this.#ended = undefined;
      this.#terminal = new Map();
      this.#startedAt = new Map();
      this.#known = new Set();
      this.#queued = new Map();
    }
    if (this.#isDestroyed && !record.destroyed) this.#say(`${actorId} was destroyed, and is not any more`);
    this.#isDestroyed = record.destroyed ?? false;
  }

  /** Results never change, and a wait that is over waits for nothing. */
  #checkTerminal({ record, entries }: Stored): void {
    const { status } = record.workflow;
    const end =
      status === "none" || status === "running" || status === "rolling_back"
        ? undefined
        : JSON.stringify(record.workflow, show);
    if (this.#ended !== undefined && end !== this.#ended)
      this.#say(`the workflow's end has changed from ${this.#ended} to ${end}`);
    this.#ended = end;
    for (const entry of entries) {
      if (isTerminal(entry) && entry.dueAt !== undefined) this.#say(`${pathOf(entry)} is over, and has a deadline`);
      if (!isTerminal(entry)) {
        if (this.#terminal.has(entry.seq)) this.#say(`${pathOf(entry)} was over, and is ${entry.status}`);
        continue;
      }
      const { location, kind, value, failure, completedSeq } = entry;
      const result = once(entry, () =>
        JSON.stringify(
          [
            location,
            kind,
            entry.status,
            value,
            failure,
            completedSeq,
            entry.startedAt,
            entry.ms,
            kind === "branch_results" ? entry.data : undefined,
          ],
          show,
        ),
      );
      const before = this.#terminal.get(entry.seq);
      if (before !== undefined && before !== result)
        this.#say(`${pathOf(entry)} has changed from ${before} to ${result}`);
      this.#terminal.set(entry.seq, result);
    }
  }

  /** Times lie within those of the run, and no replay changes them. */
  #checkTimes({ record, entries }: Stored): void {
    const [runStartedAt, runMs] = record.workflow.times ?? [];
    if (runStartedAt === undefined) return;
    const first = runStartedAt - MOST_BACK_MS;
    const last = (runMs === undefined ? this.#latest : runStartedAt + runMs) + MOST_BACK_MS;
    for (const entry of entries) {
      const { seq, kind, startedAt, ms } = entry;
      if (kind === "branch_results") continue;
      if (startedAt === undefined) this.#say(`${pathOf(entry)} has no start`);
      else if (startedAt < first || startedAt + (ms ?? 0) > last)
        this.#say(`${pathOf(entry)} lasted from ${startedAt} for ${ms} ms, the run from ${first} to ${last}`);
      if (isTerminal(entry) !== (ms !== undefined))
        this.#say(`${pathOf(entry)} is ${entry.status}, and lasted ${ms} ms`);
      if (ms !== undefined && ms < 0) this.#say(`${pathOf(entry)} lasted ${ms} ms`);
      if (this.#startedAt.has(seq) && this.#startedAt.get(seq) !== startedAt)
        this.#say(`${pathOf(entry)} began at ${this.#startedAt.get(seq)}, and now at ${startedAt}`);
      this.#startedAt.set(seq, startedAt);
    }
  }

  /** Each message is in one place: in the queue, in an entry that took it, or consumed by one that is there no more. */
  #checkMessages({ record, state, entries, queued }: Stored): void {
    const isOpen = record.workflow.status === "running" || record.workflow.status === "rolling_back";
    const taken = new Set<string>();
    const before = ofLife(this.#taken, record.actorId);
    for (const entry of entries) {
      if (entry.kind !== "message") continue;
      const held = new Set(heldMessages(entry).map((message) => message.id));
      for (const message of takenMessages(entry)) {
        const body = String(decodeValue(message.body));
        if (taken.has(body)) this.#say(`message ${body} was taken twice`);
        taken.add(body);
        const isStored = queued.get(body)?.createdAt === message.createdAt;
        if (held.has(message.id) ? isOpen && !isStored : isStored)
          this.#say(`message ${body} is ${isStored ? "taken, and in the queue" : "held, and gone"}`);
      }
    }
    for (const body of this.#queued.keys()) {
      if (!queued.has(body) && !taken.has(body) && !before.has(body) && !state.completed.includes(body))
        this.#say(`message ${body} has gone`);
    }
    this.#queued = queued;
    for (const body of [...queued.keys(), ...taken]) this.#known.add(body);
    for (const body of taken) before.add(body);
    // What a race's loser took may be back.
    for (const body of queued.keys()) if (!taken.has(body)) before.delete(body);
  }

  /** State is what the finished steps have made of it: no change without its step, no step without its change. */
  #checkFold({ record, state, entries }: Stored): void {
    const finished = ofLife(this.#finished, record.actorId);
    for (const entry of entries) {
      if (entry.status !== "completed" || !isProgramStep(entry)) continue;
      const path = pathOf(entry);
      finished.add(path);
      if (state.finished[path] !== 1)
        this.#say(`${path} is recorded, and changed the state ${state.finished[path] ?? 0} times`);
    }
    for (const [path, times] of Object.entries(state.finished)) {
      if (times !== 1) this.#say(`${path} changed the state ${times} times`);
      // A step whose callback has ended in the turn that marks the actor as destroyed leaves nothing for anybody.
      if (!finished.has(path) && !isInRace(path) && !record.destroyed)
        this.#say(`${path} changed the state, and is not recorded`);
    }
    for (const [what, counts] of Object.entries({
      undone: state.undone,
      added: state.added,
      ticked: state.ticked,
      recurred: state.recurred,
    })) {
      for (const [id, times] of Object.entries(counts)) if (times !== 1) this.#say(`${id} was ${what} ${times} times`);
    }
  }

  /** The alarm stands no later than the earliest stored deadline (ALARM-1). */
  #checkAlarm(stored: Stored, rows: Rows, alarmAt: number | null): void {
    const now = this.#latest;
    if (stored.record.destroyed) return;
    if (!this.isServed && alarmAt !== null && alarmAt <= now + LAST_BACKOFF_MS) return;
    const deadlines = deadlinesIn(rows);
    if (deadlines.length === 0) return;
    // What is overdue is in hand; after a start that failed it is tried again within the longest backoff.
    const earliest = Math.min(now + YEAR_MS, ...deadlines.map((at) => (at <= now ? now + LAST_BACKOFF_MS : at)));
    // A wake that is left behind after a failed start comes 10 s later at the earliest, whatever else is due by then.
    if (alarmAt !== null && alarmAt <= now + FIRST_RETRY_MS) return;
    // While work is guarded, its alarm is not the one of an actor that rests, but 1 ms beside it.
    if (alarmAt === null || alarmAt > Math.ceil(earliest) + 1)
      this.#say(`alarm at ${alarmAt}, earliest deadline ${earliest}, now ${now}`);
  }

  /** With time enough to be woken, no workflow waits for a message that is there. */
  checkWaiting(rows: Rows, waiting: readonly (readonly string[])[]): void {
    const stored = read(rows);
    // Until its re-check, a workflow whose code was wrong waits for nothing else.
    if (!stored || stored.record.destroyed || stored.record.workflow.status !== "running" || rows.has("d/workflow"))
      return;
    const held = new Set(
      stored.entries.flatMap((entry) =>
        entry.kind === "message" ? heldMessages(entry).map((message) => message.id) : [],
      ),
    );
    for (const [body, { id, queue }] of stored.queued) {
      if (held.has(id)) continue;
      for (const queues of waiting)
        if (queues.length === 0 || queues.includes(queue)) this.#say(`message ${body} is there, and is waited for`);
    }
  }

  /** While work runs that a crash would interrupt, the alarm is near: after cut-off boots, as near as they are apart (ALARM-12). */
  checkWorking(rows: Rows, alarmAt: number | null, now: number): void {
    const lease = rows.get("l");
    const boots = lease ? ((decodeValue(lease) as number[])[3] ?? 0) : 0;
    const latest = Math.max(now, this.#latest) + MOST_BACK_MS + (boots > 0 ? LAST_BACKOFF_MS : LONGEST_LEASE_MS);
    if (alarmAt === null || alarmAt > latest) this.#say(`work runs, and the alarm is at ${alarmAt}, now ${now}`);
    if (!holdsLease(rows, alarmAt, now))
      this.#say(`work runs, and a start would not know that it was cut off: alarm at ${alarmAt}, now ${now}`);
  }
}

function ofLife(sets: Map<string, Set<string>>, life: string): Set<string> {
  const found = sets.get(life) ?? new Set();
  sets.set(life, found);
  return found;
}

function bodiesOf(entry: Entry): string[] {
  return entry.kind === "message" ? takenMessages(entry).map((message) => String(decodeValue(message.body))) : [];
}

function show(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? [...value].join() : value;
}
