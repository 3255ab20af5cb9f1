/** What must hold of what is stored, whatever owners do: each step counts once, each message is in one place, no wait ends early. */
import { decodeValue } from "../../src/protocol/index.js";
import { heldMessages, takenMessages } from "../../src/workflow/index.js";
import { decodeEntry, type Entry } from "../../src/workflow/internal.js";
import type { OwnerState } from "./owner-actor.js";

type Rows = ReadonlyMap<string, Uint8Array>;

interface Snapshot {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Effects of steps whose entries are gone, by location: they were done, and were not undone. */
  readonly kept: Map<string, number>;
}

const decoded = new WeakMap<object, Entry>();

function entriesOf(rows: Rows): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [key, bytes] of rows) {
    if (!key.startsWith("e/")) continue;
    const entry = decoded.get(bytes) ?? decodeEntry(Number(key.slice(2)), bytes);
    decoded.set(bytes, entry);
    entries.set(JSON.stringify(entry.location), entry);
  }
  return entries;
}

/** Message rows: queue, body and time by id. */
function queueOf(rows: Rows): Map<number, { queue: string; body: string; createdAt: number }> {
  const queue = new Map<number, { queue: string; body: string; createdAt: number }>();
  for (const [key, bytes] of rows) {
    if (!key.startsWith("m/")) continue;
    const [name, body, createdAt] = decodeValue(bytes) as [string, Uint8Array, number];
    queue.set(Number(key.slice(2)), { queue: name, body: String(decodeValue(body)), createdAt });
  }
  return queue;
}

function isUndone(entries: ReadonlyMap<string, Entry>, entry: Entry): boolean {
  return entries.get(JSON.stringify([-1, String(entry.seq)]))?.status === "completed";
}

/** How often a step has taken effect by its entry, less how often it was undone: one that was skipped took none. */
function effectOf(entries: ReadonlyMap<string, Entry>, entry: Entry): number {
  if (entry.kind !== "step" || entry.status !== "completed") return 0;
  return (entry.skipped ? 0 : 1) - (isUndone(entries, entry) ? 1 : 0);
}

export class OwnerOracle {
  readonly #say: (what: string) => void;
  readonly #now: () => number;
  #durable: Snapshot = { entries: new Map(), kept: new Map() };
  #latest: Snapshot = this.#durable;
  #rows: Rows = new Map();
  readonly #placeholders = new Set<string>();
  readonly #acknowledged = new Map<string, number>();
  /** Timeouts that the code has seen, by the entry that timed out. */
  readonly #timeouts = new Map<
    number,
    { readonly queues: readonly string[]; readonly dueAt: number; readonly at: number }
  >();

  constructor(say: (what: string) => void, now: () => number) {
    this.#say = say;
    this.#now = now;
  }

  /** The process died: what its last turn had written is gone. */
  crashed(): void {
    this.#latest = this.#durable;
  }

  committed(rows: Rows): void {
    const entries = entriesOf(rows);
    const kept = new Map(this.#latest.kept);
    for (const [location, before] of this.#latest.entries) {
      const now = entries.get(location);
      const effect = effectOf(this.#latest.entries, before);
      if (effect !== 0 && now?.completedSeq !== before.completedSeq) {
        kept.set(location, (kept.get(location) ?? 0) + effect);
      }
      const ended =
        now?.status === "completed" && now.value === undefined && before.status === "pending" && before.seq === now.seq;
      if (
        ended &&
        (before.dueAt ?? 0) > this.#now() &&
        (before.kind === "sleep" || before.kind === "message") &&
        !this.#isReplaced(location)
      ) {
        this.#say(`${before.kind} ${location} was marked as over ${(before.dueAt ?? 0) - this.#now()} ms too early`);
      }
    }
    for (const [location, entry] of entries) this.#checkTimes(location, entry);
    this.#latest = { entries, kept };
    this.#rows = rows;
  }

  /** What starts over has not ended, and what has ended began before that. */
  #checkTimes(location: string, { kind, status, startedAt, ms, attemptStartedAt, failedAttempts = [] }: Entry): void {
    if (kind === "branch_results") return;
    const hasEnded = status === "completed" || status === "failed";
    if (startedAt === undefined || startedAt > this.#now() || hasEnded !== (ms !== undefined) || (ms ?? 0) < 0)
      this.#say(`${location} is ${status}, began at ${startedAt} and lasted ${ms} ms`);
    const starts = [...failedAttempts.map((each) => each.startedAt), attemptStartedAt ?? this.#now()];
    if (starts.some((at) => at < (startedAt ?? 0) || at > this.#now()))
      this.#say(`${location} began at ${startedAt}, its attempts at ${starts.join(", ")}`);
  }

  durable(rows: Rows): void {
    this.#durable = this.#latest;
    this.#checkSteps(rows);
    this.#checkMessages(rows);
  }

  /** True if an attempt of the step is recorded as begun. */
  isRunning(location: readonly (string | number)[]): boolean {
    return this.#latest.entries.get(JSON.stringify(location))?.status === "running";
  }

  placeholder(location: readonly (string | number)[]): void {
    this.#placeholders.add(JSON.stringify(location));
  }

  /** The code goes on from a wait. */
  waited(location: readonly (string | number)[], timedOut: boolean, queues: readonly string[] | undefined): void {
    if (!timedOut) return;
    const entry = this.#latest.entries.get(JSON.stringify(location));
    if (entry?.status !== "pending" || entry.dueAt === undefined) return;
    const earlyMs = entry.dueAt - this.#now();
    if (earlyMs > 0) this.#say(`${entry.kind} ${JSON.stringify(location)} ended ${earlyMs} ms early`);
    if (!queues || earlyMs > 0 || this.#timeouts.has(entry.seq)) return;
    this.#timeouts.set(entry.seq, { queues, dueAt: entry.dueAt, at: this.#now() });
    const held = this.#heldIds();
    for (const [id, message] of queueOf(this.#rows)) {
      const wasWanted =
        !held.has(id) && message.createdAt <= entry.dueAt && (queues.length === 0 || queues.includes(message.queue));
      if (wasWanted)
        this.#say(`receive ${JSON.stringify(location)} timed out, and message ${message.body} was there in time`);
    }
  }

  answered(location: readonly (string | number)[], version: number): void {
    const entry = this.#durable.entries.get(JSON.stringify(location));
    const stored = (entry?.data as { version?: number } | undefined)?.version;
    if (
      entry?.kind === "version_check" &&
      this.#latest.entries.get(JSON.stringify(location))?.seq === entry.seq &&
      stored !== version
    )
      this.#say(`gate ${JSON.stringify(location)} answered ${version} after ${stored}`);
  }

  /** How many timeouts the code has seen. */
  get timeouts(): number {
    return this.#timeouts.size;
  }

  /** A message was acknowledged; `before`: timeouts when its sending began, at that time (epoch ms). */
  acknowledged(body: string, queue: string, createdAt: number, begunAt: number, before: number): void {
    this.#acknowledged.set(body, createdAt);
    if (![...queueOf(this.#rows).values()].some((message) => message.body === body)) return;
    for (const timeout of [...this.#timeouts.values()].slice(before)) {
      const wanted = timeout.queues.length === 0 || timeout.queues.includes(queue);
      if (wanted && timeout.at === begunAt && createdAt <= timeout.dueAt)
        this.#say(`message ${body} came at the deadline of a receive that timed out meanwhile`);
    }
  }

  /** The run is completed: whatever it had to do again is done. */
  ended(): void {
    for (const [location, entry] of this.#durable.entries) {
      if (
        entry.kind !== "step" ||
        entry.status === "completed" ||
        entry.status === "failed" ||
        this.#isReplaced(location) ||
        /c\d+"/.test(location)
      )
        continue;
      this.#say(`step ${location} is ${entry.status}, and the run is completed`);
    }
  }

  #isReplaced(location: string): boolean {
    return [...this.#placeholders].some((placeholder) => location.startsWith(placeholder.slice(0, -1)));
  }

  #heldIds(): Set<number> {
    return new Set(
      [...this.#latest.entries.values()].flatMap((entry) =>
        entry.kind === "message" ? heldMessages(entry).map(({ id }) => id) : [],
      ),
    );
  }

  /** Each step that is recorded has taken effect once, each that is not has not, and none was undone twice. */
  #checkSteps(rows: Rows): void {
    const { entries, kept } = this.#durable;
    const { net } = decodeValue(rows.get("s") ?? new Uint8Array()) as OwnerState;
    const record = decodeValue(rows.get("a") ?? new Uint8Array()) as { workflow?: { status: string } };
    const isCancelled = record.workflow?.status === "cancelled";
    const locations = new Set([
      ...Object.keys(net),
      ...[...entries]
        .filter(([, entry]) => entry.kind === "step" && entry.location[0] !== -1)
        .map(([location]) => location),
    ]);
    for (const location of locations) {
      const entry = entries.get(location);
      const wanted = entry ? effectOf(entries, entry) : 0;
      const seen = (net[location] ?? 0) - (kept.get(location) ?? 0);
      // A step may end, and change the state, in the very turn in which another branch of its race wins, or in which the run
      // is cancelled: then nothing of it is recorded.
      const isCutOff = /c\d+"/.test(location) || (isCancelled && entry?.status !== "completed");
      if (seen > wanted && isCutOff) kept.set(location, (kept.get(location) ?? 0) + seen - wanted);
      else if (seen !== wanted) this.#say(`step ${location} counts ${seen}, and is recorded ${wanted} times`);
    }
  }

  /** Each message is in the queue, or in one entry that took it. */
  #checkMessages(rows: Rows): void {
    const places = new Map<string, number>();
    const queue = queueOf(rows);
    for (const { body } of queue.values()) places.set(body, (places.get(body) ?? 0) + 1);
    for (const entry of this.#durable.entries.values()) {
      if (entry.kind !== "message") continue;
      const held = new Set(heldMessages(entry).map(({ id }) => id));
      for (const message of takenMessages(entry)) {
        const body = String(decodeValue(message.body));
        if (held.has(message.id) && queue.get(message.id)?.body === body) continue;
        places.set(body, (places.get(body) ?? 0) + 1);
      }
    }
    for (const body of this.#acknowledged.keys()) {
      const count = places.get(body) ?? 0;
      if (count !== 1) this.#say(`message ${body} is in ${count} places`);
    }
  }
}
