/** The frames of RivetKit's inspector socket, version 6: BARE, with values in CBOR. */
import { ActorError, BareReader, BareWriter, decodeTaggedCbor, encodeTaggedCbor } from "../../protocol/index.js";
import type { RivetConnection, RivetQueue, RivetSchedule, RivetSummary, RivetWorkflow } from "./rivet-answers.js";
import { writeHistory } from "./rivet-history-bytes.js";

const VERSION = 6;

/** What the other side asks; `rid` answers its `id`. Without one it gets no answer of its own. */
export type RivetRequest =
  | { readonly tag: "patchState"; readonly state: unknown }
  | { readonly tag: "state" | "connections" | "rpcs" | "history" | "schema" | "schedules"; readonly id: bigint }
  | { readonly tag: "action"; readonly id: bigint; readonly name: string; readonly args: unknown }
  | { readonly tag: "traces"; readonly id: bigint }
  | { readonly tag: "queue"; readonly id: bigint; readonly limit: number }
  | { readonly tag: "replay"; readonly id: bigint; readonly entryId: string | undefined }
  | {
      readonly tag: "rows";
      readonly id: bigint;
      readonly table: string;
      readonly limit: number;
      readonly offset: number;
    }
  | { readonly tag: "scheduleHistory"; readonly id: bigint; readonly scheduleId: string }
  | { readonly tag: "deleteSchedule"; readonly id: bigint; readonly scheduleId: string };

/** By their numbers. */
const READERS: readonly ((bare: BareReader) => RivetRequest)[] = [
  (bare) => ({ tag: "patchState", state: decodeTaggedCbor(bare.data()) }),
  (bare) => ({ tag: "state", id: bare.uint() }),
  (bare) => ({ tag: "connections", id: bare.uint() }),
  (bare) => ({ tag: "action", id: bare.uint(), name: bare.str(), args: decodeTaggedCbor(bare.data()) }),
  (bare) => ({ tag: "rpcs", id: bare.uint() }),
  (bare) => {
    const id = bare.uint();
    for (const _ of ["start", "end", "limit"]) bare.uint();
    return { tag: "traces", id };
  },
  (bare) => ({ tag: "queue", id: bare.uint(), limit: Number(bare.uint()) }),
  (bare) => ({ tag: "history", id: bare.uint() }),
  (bare) => ({ tag: "replay", id: bare.uint(), entryId: bare.optional(() => bare.str()) }),
  (bare) => ({ tag: "schema", id: bare.uint() }),
  (bare) => ({
    tag: "rows",
    id: bare.uint(),
    table: bare.str(),
    limit: Number(bare.uint()),
    offset: Number(bare.uint()),
  }),
  (bare) => ({ tag: "schedules", id: bare.uint() }),
  (bare) => {
    const request = { tag: "scheduleHistory", id: bare.uint(), scheduleId: bare.str() } as const;
    bare.uint();
    return request;
  },
  (bare) => {
    const request = { tag: "deleteSchedule", id: bare.uint(), scheduleId: bare.str() } as const;
    bare.str();
    return request;
  },
];

/** @throws {encoding/invalid} when it is no frame of this version */
export function readRequest(bytes: Uint8Array): RivetRequest {
  const bare = new BareReader(bytes, VERSION);
  // A number below 128 is one byte in either notation.
  const read = READERS[Number(bare.uint())];
  if (read === undefined) throw new ActorError("encoding", "invalid", "There is no request of this number");
  const request = read(bare);
  bare.end();
  return request;
}

/** What is told without a question. */
export const updates = {
  init: (summary: RivetSummary, schedules: readonly RivetSchedule[]) =>
    frame(17, (bare) => {
      writeConnections(bare, summary.connections);
      writeState(bare, summary);
      bare.bool(summary.isStateEnabled);
      writeList(bare, summary.rpcs, (name) => bare.str(name));
      bare.bool(summary.isDatabaseEnabled);
      bare.uint(summary.queueSize);
      writeWorkflow(bare, summary);
      writeList(bare, summary.hiddenTabs, (id) => {
        bare.str(id);
        // It has neither label nor icon, and is hidden.
        for (const is of [false, false, true]) bare.bool(is);
      });
      writeSchedules(bare, schedules);
    }),
  connections: (connections: readonly RivetConnection[]) => frame(3, (bare) => writeConnections(bare, connections)),
  queue: (size: number) => frame(4, (bare) => bare.uint(size)),
  state: (state: unknown) => frame(5, (bare) => writeCbor(bare, state)),
  history: (history: NonNullable<RivetWorkflow["history"]>) => frame(6, (bare) => bare.data(writeHistory(history))),
  schedules: (schedules: readonly RivetSchedule[]) => frame(7, (bare) => writeSchedules(bare, schedules)),
  error: (message: string) => frame(16, (bare) => bare.str(message)),
};

/** Answers to the request `rid`. */
export const responses = {
  state: (rid: bigint, state: { readonly state: unknown; readonly isStateEnabled: boolean }) =>
    response(0, rid, (bare) => {
      writeState(bare, state);
      bare.bool(state.isStateEnabled);
    }),
  connections: (rid: bigint, connections: readonly RivetConnection[]) =>
    response(1, rid, (bare) => writeConnections(bare, connections)),
  action: (rid: bigint, output: unknown) => response(2, rid, (bare) => writeCbor(bare, output)),
  rpcs: (rid: bigint, rpcs: readonly string[]) =>
    response(8, rid, (bare) => writeList(bare, rpcs, (name) => bare.str(name))),
  traces: (rid: bigint) => response(9, rid, (bare) => writeCbor(bare, { otlp: [], clamped: false })),
  queue: (rid: bigint, { size, maxSize, messages, truncated }: RivetQueue) =>
    response(10, rid, (bare) => {
      bare.uint(size);
      bare.uint(maxSize);
      writeList(bare, messages, ({ id, name, createdAtMs }) => {
        bare.uint(BigInt(id));
        bare.str(name);
        bare.uint(createdAtMs);
      });
      bare.bool(truncated);
    }),
  history: (rid: bigint, workflow: RivetWorkflow) => workflowResponse(11, rid, workflow),
  replay: (rid: bigint, workflow: RivetWorkflow) => workflowResponse(12, rid, workflow),
  schedules: (rid: bigint, schedules: readonly RivetSchedule[]) =>
    response(13, rid, (bare) => writeSchedules(bare, schedules)),
  schema: (rid: bigint, schema: unknown) => response(18, rid, (bare) => writeCbor(bare, schema)),
  rows: (rid: bigint, rows: unknown) => response(19, rid, (bare) => writeCbor(bare, rows)),
};

function frame(number: number, write: (bare: BareWriter) => void): Uint8Array<ArrayBuffer> {
  const bare = new BareWriter(Uint8Array.of(VERSION, 0, number));
  write(bare);
  return bare.finish();
}

function response(number: number, rid: bigint, write: (bare: BareWriter) => void): Uint8Array<ArrayBuffer> {
  return frame(number, (bare) => {
    bare.uint(rid);
    write(bare);
  });
}

function workflowResponse(number: number, rid: bigint, workflow: RivetWorkflow): Uint8Array<ArrayBuffer> {
  return response(number, rid, (bare) => writeWorkflow(bare, workflow));
}

function writeList<T>(bare: BareWriter, items: readonly T[], write: (item: T) => void): void {
  bare.uint(items.length);
  items.forEach(write);
}

function writeCbor(bare: BareWriter, value: unknown): void {
  bare.data(encodeTaggedCbor(value));
}

function writeState(
  bare: BareWriter,
  { state, isStateEnabled }: { readonly state: unknown; readonly isStateEnabled: boolean },
): void {
  bare.bool(isStateEnabled);
  if (isStateEnabled) writeCbor(bare, state);
}

function writeConnections(bare: BareWriter, connections: readonly RivetConnection[]): void {
  writeList(bare, connections, ({ id, details }) => {
    bare.str(id);
    writeCbor(bare, details);
  });
}

function writeWorkflow(bare: BareWriter, { history, isWorkflowEnabled }: RivetWorkflow): void {
  bare.optional(history ?? undefined, (whole) => bare.data(writeHistory(whole)));
  bare.bool(isWorkflowEnabled);
}

function writeSchedules(bare: BareWriter, schedules: readonly RivetSchedule[]): void {
  const text = (value: string | undefined): void => bare.optional(value, (some) => bare.str(some));
  const number = (value: number | undefined): void => bare.optional(value, (some) => bare.uint(some));
  writeList(bare, schedules, ({ id, name, kind, action, args, nextRunAt, expression, timezone, intervalMs }) => {
    bare.str(id);
    text(name);
    bare.str(kind);
    bare.str(action);
    writeCbor(bare, args);
    bare.uint(nextRunAt);
    // When it ran last is in the job's history.
    number(undefined);
    text(expression);
    text(timezone);
    number(intervalMs);
    number(undefined);
  });
}
