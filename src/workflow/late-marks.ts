import { endAt, isTerminal, type Entry } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import type { WorkflowPorts } from "./ports.js";

/** Writes the marked entries. */
interface Writer {
  readonly ports: Pick<WorkflowPorts, "put">;
  put(entry: Entry): void;
  complete(entry: Entry): void;
}

/** Changes of entries that need no commit of their own: the next commit writes them. */
export class LateMarks {
  readonly #history: History;
  readonly #recorded = new Set<Entry>();
  readonly #letGo = new Set<Entry>();
  readonly #finished = new Set<Entry>();

  constructor(history: History) {
    this.#history = history;
  }

  /** Adds an entry to the history, to be taken back if the code diverges before the next commit. */
  record(entry: Entry): void {
    this.#history.add(entry);
    this.#recorded.add(entry);
  }

  /** The code no longer has an operation there: its deadlines and those below it must go. */
  letGo(location: Location): void {
    for (const entry of this.#history.letGo(location)) this.#letGo.add(entry);
  }

  /** Marks a wait as ended, unless the commit writes a later entry that implies it. */
  finish(entry: Entry): void {
    this.#finished.add(entry);
  }

  isFinished(entry: Entry): boolean {
    return this.#finished.has(entry);
  }

  /** Drops the marks of a deleted entry. */
  forget(entry: Entry): void {
    this.#finished.delete(entry);
    this.#recorded.delete(entry);
    this.#letGo.delete(entry);
  }

  /** The code diverged: removes from the history what no commit has written. */
  takeBack(): void {
    for (const entry of this.#recorded) this.#history.removeTree(entry.location);
    this.#recorded.clear();
  }

  /** Writes all marks into the commit that is being built. */
  write(writer: Writer): void {
    for (const entry of this.#recorded) writer.ports.put(entry);
    this.#recorded.clear();
    for (const entry of this.#letGo) {
      delete entry.dueAt;
      if (entry.kind === "step") writer.put(entry);
      else writer.complete(entry);
    }
    this.#letGo.clear();
    for (const entry of this.#finished) {
      if (isTerminal(entry) || this.#history.isPassed(entry)) continue;
      // It ended at its deadline, however late the wake and this commit.
      if (entry.dueAt !== undefined) endAt(entry, entry.dueAt);
      writer.complete(entry);
    }
    this.#finished.clear();
  }
}
