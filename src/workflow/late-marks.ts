import { isTerminal, type Entry } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import type { WorkflowPorts } from "./ports.js";

/** What writes them. */
interface Writer {
  readonly ports: Pick<WorkflowPorts, "put">;
  put(entry: Entry): void;
  complete(entry: Entry): void;
}

/** Marks on entries that cost no commit of their own: the next one that is made anyway writes them. */
export class LateMarks {
  readonly #history: History;
  readonly #recorded = new Set<Entry>();
  readonly #letGo = new Set<Entry>();
  readonly #finished = new Set<Entry>();

  constructor(history: History) {
    this.#history = history;
  }

  /** An entry joins the history, unless the code diverges before that commit. */
  record(entry: Entry): void {
    this.#history.add(entry);
    this.#recorded.add(entry);
  }

  /** The code has no operation there any more: its deadlines, and those below it, are to go. */
  letGo(location: Location): void {
    for (const entry of this.#history.letGo(location)) this.#letGo.add(entry);
  }

  /** A wait has ended; its mark is left out where what the commit writes later shows the same. */
  finish(entry: Entry): void {
    this.#finished.add(entry);
  }

  isFinished(entry: Entry): boolean {
    return this.#finished.has(entry);
  }

  /** The entry is deleted. */
  forget(entry: Entry): void {
    this.#finished.delete(entry);
    this.#recorded.delete(entry);
    this.#letGo.delete(entry);
  }

  /** The code has diverged: what it recorded and no commit wrote leaves the history. */
  takeBack(): void {
    for (const entry of this.#recorded) this.#history.removeTree(entry.location);
    this.#recorded.clear();
  }

  /** A commit is being built. */
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
      if (!isTerminal(entry) && !this.#history.isPassed(entry)) writer.complete(entry);
    }
    this.#finished.clear();
  }
}
