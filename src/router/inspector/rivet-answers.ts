/** What objects answer, in the shapes of RivetKit's inspector. */
import { own, type InspectQuestion } from "../../protocol/index.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import type { PartRequest } from "../routes/router-part.js";
import { askFor } from "./ask.js";
import { rivetHistory, rivetState, type HistoryItem, type RivetHistory } from "./rivet-history.js";

/** The most messages that one answer lists, and the most entries of a history. */
export const MAX_MESSAGES = 1_000;
const MAX_ENTRIES = 20_000;
const PAGE = 1_000;

/** Asks about one actor. */
export class RivetAnswers {
  readonly #asked: Pick<PartRequest, "objects">;
  readonly #target: ActorTarget;

  constructor(asked: Pick<PartRequest, "objects">, target: ActorTarget) {
    this.#asked = asked;
    this.#target = target;
  }

  /** Throws what the actor answers. */
  ask<T>(inspect: InspectQuestion): Promise<T> {
    return askFor<T>(this.#asked, this.#target, inspect);
  }

  async state(): Promise<{ state: unknown; isStateEnabled: boolean }> {
    const { state = null, isEnabled } = own(
      await this.ask<{ state?: unknown; isEnabled: boolean }>({ about: "state" }),
    );
    return { state, isStateEnabled: isEnabled };
  }

  async connections(): Promise<{ connections: RivetConnection[] }> {
    const { items } = await this.ask<{ items: Connection[] }>({ about: "connections" });
    return { connections: items.map(connectionOf) };
  }

  async queue(limit: number): Promise<RivetQueue> {
    const { size, maxSize = 0, items } = own(await this.ask<Queue>({ about: "queue", limit }));
    const messages = items.map(({ id, queue, createdAt }) => ({ id: String(id), name: queue, createdAtMs: createdAt }));
    return { size, maxSize, truncated: size > messages.length, messages };
  }

  async workflow(): Promise<RivetWorkflow> {
    const items: HistoryItem[] = [];
    for (let from = "0"; ;) {
      const page = own(await this.ask<HistoryPage>({ about: "history", from, limit: PAGE }));
      for (const item of page.items) items.push(item);
      const { status } = page.status;
      const isEnabled = status !== "none";
      if (page.next === undefined || items.length >= MAX_ENTRIES)
        return {
          history: isEnabled ? rivetHistory(items) : null,
          workflowState: rivetState(status),
          isWorkflowEnabled: isEnabled,
        };
      from = page.next;
    }
  }

  async summary(): Promise<RivetSummary> {
    const { actions, queueSize, isDatabaseEnabled, hiddenTabs } = own(await this.ask<Summary>({ about: "summary" }));
    return {
      ...(await this.state()),
      ...(await this.connections()),
      ...(await this.workflow()),
      rpcs: [...actions].sort(),
      queueSize,
      isDatabaseEnabled,
      hiddenTabs,
    };
  }

  async schema(): Promise<object> {
    const { items } = await this.ask<{ items: Table[] }>({ about: "schema" });
    const tables = items.map(({ name, type, columns, foreignKeys, records }) => ({
      table: { schema: "main", name, type },
      columns,
      foreignKeys,
      records,
    }));
    return { schema: { tables } };
  }

  async rows(table: string, limit: number, offset: number): Promise<{ rows: object[] }> {
    const { columns, rows } = await this.ask<Rows>({ about: "rows", table, limit, from: String(offset) });
    return { rows: rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))) };
  }

  async schedules(): Promise<RivetSchedule[]> {
    const { items } = await this.ask<{ items: Schedule[] }>({ about: "schedules" });
    return items.map(scheduleOf);
  }
}

interface Summary {
  readonly actions: readonly string[];
  readonly queueSize: number;
  readonly isDatabaseEnabled: boolean;
  readonly hiddenTabs: readonly string[];
}

export interface RivetWorkflow {
  readonly history: RivetHistory | null;
  readonly workflowState: string | null;
  readonly isWorkflowEnabled: boolean;
}

export interface RivetSummary extends RivetWorkflow {
  readonly state: unknown;
  readonly isStateEnabled: boolean;
  readonly connections: readonly RivetConnection[];
  readonly rpcs: readonly string[];
  readonly queueSize: number;
  readonly isDatabaseEnabled: boolean;
  readonly hiddenTabs: readonly string[];
}

interface HistoryPage {
  readonly items: readonly HistoryItem[];
  readonly next?: string;
  readonly status: { readonly status: string };
}

interface Connection {
  readonly id: string;
  readonly kind: string;
  readonly params?: unknown;
  readonly state?: unknown;
  readonly events: readonly string[];
  readonly isHibernatable: boolean;
}

export interface RivetConnection {
  readonly connectionType: string;
  readonly id: string;
  readonly details: {
    readonly connectionType: string;
    readonly params: unknown;
    readonly stateEnabled: boolean;
    readonly state: unknown;
    readonly subscriptions: number;
    readonly isHibernatable: boolean;
  };
}

function connectionOf(given: Connection): RivetConnection {
  const { id, kind, params = null, state, events, isHibernatable } = own(given);
  return {
    connectionType: kind,
    id,
    details: {
      connectionType: kind,
      params,
      stateEnabled: state !== undefined,
      state: state ?? null,
      subscriptions: events.length,
      isHibernatable,
    },
  };
}

interface Queue {
  readonly size: number;
  readonly maxSize?: number;
  readonly items: readonly { readonly id: number; readonly queue: string; readonly createdAt: number }[];
}

export interface RivetQueue {
  readonly size: number;
  readonly maxSize: number;
  readonly truncated: boolean;
  readonly messages: readonly { readonly id: string; readonly name: string; readonly createdAtMs: number }[];
}

interface Table {
  readonly name: string;
  readonly type: string;
  readonly columns: readonly object[];
  readonly foreignKeys: readonly object[];
  readonly records: number;
}

interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

interface Schedule {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly args: unknown;
  readonly cadence?:
    | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
    | { readonly kind: "every"; readonly interval: number };
}

/** A scheduled action, or a recurring job. */
export interface RivetSchedule {
  readonly id: string;
  readonly name?: string | undefined;
  readonly kind: "at" | "cron" | "every";
  readonly action: string;
  readonly args: unknown;
  readonly nextRunAt: number;
  readonly expression?: string | undefined;
  readonly timezone?: string | undefined;
  readonly intervalMs?: number | undefined;
}

function scheduleOf(given: Schedule): RivetSchedule {
  const { id, at, action, args, cadence } = own(given);
  const about = { id, action, args, nextRunAt: at };
  if (cadence === undefined) return { ...about, kind: "at" };
  const recurring = { ...about, name: id };
  return cadence.kind === "cron"
    ? { ...recurring, kind: "cron", expression: cadence.expression, timezone: cadence.timezone }
    : { ...recurring, kind: "every", intervalMs: cadence.interval };
}
