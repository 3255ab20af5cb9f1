import { BareWriter, encodeTaggedCbor } from "../../protocol/index.js";
import {
  BRANCH_STATUSES,
  ENTRY_STATUSES,
  KINDS,
  SLEEP_STATES,
  type RivetBranch,
  type RivetHistory,
  type RivetKind,
  type RivetMetadata,
  type RivetSegment,
} from "./rivet-history.js";

/** A history in BARE, without a version. */
export function writeHistory({ nameRegistry, entries, entryMetadata }: RivetHistory): Uint8Array {
  const bare = new BareWriter(new Uint8Array(0));
  const all = Object.entries(entryMetadata);
  bare.uint(nameRegistry.length);
  for (const name of nameRegistry) bare.str(name);
  bare.uint(entries.length);
  for (const { id, location, kind } of entries) {
    bare.str(id);
    bare.uint(location.length);
    for (const segment of location) writeSegment(bare, segment);
    writeKind(bare, kind);
  }
  bare.uint(all.length);
  for (const [id, metadata] of all) {
    bare.str(id);
    writeMetadata(bare, metadata);
  }
  return bare.finish();
}

function writeSegment(bare: BareWriter, segment: RivetSegment): void {
  if (segment.tag === "WorkflowNameIndex") {
    bare.uint(0);
    u32(bare, segment.val);
    return;
  }
  bare.uint(1);
  u32(bare, segment.val.loop);
  u32(bare, segment.val.iteration);
}

function writeKind(bare: BareWriter, kind: RivetKind): void {
  bare.uint(KINDS.indexOf(kind.tag));
  switch (kind.tag) {
    case "WorkflowStepEntry":
      bare.bool(false);
      return text(bare, kind.val.error);
    case "WorkflowLoopEntry":
      nothing(bare);
      u32(bare, kind.val.iteration);
      return bare.bool(false);
    case "WorkflowSleepEntry":
      bare.u64(kind.val.deadline);
      return bare.uint(SLEEP_STATES.indexOf(kind.val.state));
    case "WorkflowMessageEntry":
      bare.str(kind.val.name);
      return nothing(bare);
    case "WorkflowRollbackCheckpointEntry":
      return bare.str(kind.val.name);
    case "WorkflowJoinEntry":
      return writeBranches(bare, kind.val.branches);
    case "WorkflowRaceEntry":
      text(bare, kind.val.winner);
      return writeBranches(bare, kind.val.branches);
    case "WorkflowRemovedEntry":
      bare.str(kind.val.originalType);
      return text(bare, kind.val.originalName);
    default:
      u32(bare, kind.val.resolved);
      return u32(bare, kind.val.latest);
  }
}

function writeBranches(bare: BareWriter, branches: Readonly<Record<string, RivetBranch>>): void {
  const all = Object.entries(branches);
  bare.uint(all.length);
  for (const [name, { status, error }] of all) {
    bare.str(name);
    bare.uint(BRANCH_STATUSES.indexOf(status));
    bare.bool(false);
    text(bare, error);
  }
}

function writeMetadata(bare: BareWriter, metadata: RivetMetadata): void {
  const time = (ms: number | null): void => bare.optional(ms ?? undefined, (some) => bare.u64(some));
  bare.uint(ENTRY_STATUSES.indexOf(metadata.status));
  text(bare, metadata.error);
  u32(bare, metadata.attempts);
  bare.u64(metadata.lastAttemptAt);
  bare.u64(metadata.createdAt);
  time(metadata.completedAt);
  time(metadata.rollbackCompletedAt);
  text(bare, metadata.rollbackError);
}

function text(bare: BareWriter, value: string | null): void {
  bare.optional(value ?? undefined, (some) => bare.str(some));
}

/** A value that nobody asked for. */
function nothing(bare: BareWriter): void {
  bare.data(encodeTaggedCbor(null));
}

function u32(bare: BareWriter, value: number): void {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, value, true);
  bare.raw(new Uint8Array(bytes.buffer));
}
