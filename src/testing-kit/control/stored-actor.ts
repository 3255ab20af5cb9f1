/**
 * What an object has stored, decoded by what its activations decode it with. It starts nothing, and what has happened in
 * memory alone does not show in it.
 */
import {
  decodeMessage,
  decodeRecord,
  describeCronJob,
  describeHistory,
  describeSchedule,
  describeWorkflow,
  isInFlight,
  KEYS,
  storedDeadlines,
  type ActorRecord,
  type WorkflowHistoryEntry,
  type WorkflowStatus,
} from "../../actor/index.js";
import { decodeValue } from "../../protocol/index.js";
import { decodeEntry, heldMessages, History, type StoredMessage } from "../../workflow/index.js";

type Rows = ReadonlyMap<string, Uint8Array>;

/** A scheduled action, or the next occurrence of a recurring job. */
export interface StoredSchedule {
  readonly kind: "at" | "cron" | "every";
  /** Of a schedule: as `c.schedule` gave it. */
  readonly id?: string;
  /** Of a recurring job. */
  readonly name?: string;
  /** Epoch ms. */
  readonly dueAt: number;
  readonly action: string;
  readonly args: readonly unknown[];
}

export class StoredActor {
  readonly #rows: Rows;
  readonly #record: ActorRecord;

  constructor(rows: Rows, record: ActorRecord) {
    this.#rows = rows;
    this.#record = record;
  }

  /** The actor in these rows; undefined if there is none, or it is being destroyed. */
  static in(rows: Rows): StoredActor | undefined {
    const bytes = rows.get(KEYS.actor);
    const record = bytes && decodeRecord(bytes);
    return record && !record.destroyed ? new StoredActor(rows, record) : undefined;
  }

  state(): unknown {
    const bytes = this.#rows.get(KEYS.state);
    return bytes && decodeValue(bytes);
  }

  /** Messages that no workflow holds, the first one first. */
  messages(): StoredMessage[] {
    const holds = isInFlight(this.#record.workflow);
    const held = new Set(
      holds ? [...this.#history().entries()].flatMap((entry) => heldMessages(entry).map(({ id }) => id)) : [],
    );
    return this.#under(KEYS.messages)
      .map(([id, bytes]) => decodeMessage(Number(id), bytes))
      .filter(({ id }) => !held.has(id))
      .sort((a, b) => a.id - b.id);
  }

  /** The next one first. */
  schedules(): StoredSchedule[] {
    const { schedules, jobs } = this.#deadlines();
    const once = schedules.all().map(([id, row]): StoredSchedule => {
      const { runAt: dueAt, action, args } = describeSchedule(id, row);
      return { kind: "at", id, dueAt, action, args };
    });
    const recurring = jobs.all().map(([name, job]): StoredSchedule => {
      const { kind, nextRunAt: dueAt, action, args } = describeCronJob(name, job);
      return { kind, name, dueAt, action, args };
    });
    return [...once, ...recurring].sort((a, b) => a.dueAt - b.dueAt);
  }

  workflowStatus(): WorkflowStatus {
    const { workflow } = this.#record;
    const divergence = isInFlight(workflow) ? this.#deadlines().recheck.get()?.message : undefined;
    return describeWorkflow(workflow, divergence, () => this.#history().earliestDueAt());
  }

  workflowHistory(): WorkflowHistoryEntry[] {
    return describeHistory({
      history: this.#history(),
      isOver: !isInFlight(this.#record.workflow),
      hasEnded: () => false,
    });
  }

  #history(): History {
    return new History(this.#under(KEYS.entries).map(([row, bytes]) => decodeEntry(Number(row), bytes)));
  }

  #deadlines(): ReturnType<typeof storedDeadlines> {
    return storedDeadlines([...this.#rows].filter(([key]) => key.startsWith(KEYS.deadlines)));
  }

  #under(prefix: string): [rest: string, bytes: Uint8Array][] {
    return [...this.#rows]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, bytes]) => [key.slice(prefix.length), bytes]);
  }
}
