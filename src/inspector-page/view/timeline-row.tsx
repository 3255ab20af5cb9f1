import { segmentsOf, type Segment } from "../model/segments.js";
import type { TimeAxis } from "../model/time-axis.js";
import { grouped, lengthOf } from "../model/times.js";
import { spanBelow, type Row, type TreeNode } from "../model/tree.js";
import { ROW_HEIGHT } from "../model/visible-rows.js";
import { fold, select } from "../store/actor.js";
import { now } from "../store/clock.js";
import { isSheetOpen } from "./opened.js";

interface Props {
  readonly row: Row;
  readonly index: number;
  readonly axis: TimeAxis;
  readonly isSelected: boolean;
}

/** One line: what it is, and when it was. */
export function TimelineRow({ row: { node, depth, isOpen }, index, axis, isSelected }: Props) {
  const status = statusOf(node);
  const pick = (): void => {
    select(node.id);
    isSheetOpen.value = true;
  };
  return (
    <div
      id={`row-${index}`}
      class="row"
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-expanded={isOpen}
      data-status={status}
      style={{ top: `${index * ROW_HEIGHT}px` }}
      onClick={pick}
    >
      <span class="what" style={{ paddingLeft: `${Math.min(depth, 12) * 14}px` }}>
        <span
          class="twisty"
          data-open={isOpen}
          aria-hidden="true"
          onClick={(event) => {
            if (isOpen === undefined) return;
            event.stopPropagation();
            fold(node.id, !isOpen);
          }}
        ></span>
        <span class="dot" aria-hidden="true" />
        <span class="label">{node.label}</span>
        <span class="note">{noteOf(node)}</span>
        <span class="hidden">, {status}</span>
      </span>
      <span class="bars" aria-hidden="true">
        {barsOf(node).map((each, place) => (
          <Bar key={place} segment={each} axis={axis} />
        ))}
      </span>
    </div>
  );
}

/** An iteration, or a branch, is a lane from its first operation to its last. */
function barsOf(node: TreeNode): readonly Segment[] {
  if (node.entry) return segmentsOf(node.entry, now.value);
  const span = spanBelow(node, now.value);
  return span ? [{ kind: node.branchStatus === "lost" ? "lost" : "span", ...span }] : [];
}

function Bar({ segment: { kind, from, to, attempt }, axis }: { readonly segment: Segment; readonly axis: TimeAxis }) {
  const left = axis.at(from);
  const width = axis.at(to) - left;
  const title = `${attempt === undefined ? TITLES[kind] : `attempt ${attempt}, ${TITLES[kind]}`}: ${lengthOf(to - from)}`;
  return (
    <span class="bar" data-kind={kind} title={title} style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
  );
}

const TITLES: Readonly<Record<Segment["kind"], string>> = {
  done: "completed",
  failed: "failed",
  running: "running",
  wait: "waiting",
  span: "open",
  lost: "ended with the workflow",
};

/** `pending` is told more closely: a step between attempts, or a wait. */
function statusOf({ entry, branchStatus, what }: TreeNode): string {
  if (entry)
    return entry.status === "pending" && entry.kind === "step" && entry.dueAt === undefined ? "running" : entry.status;
  return branchStatus ?? what;
}

function noteOf({ entry, branchStatus, what, children }: TreeNode): string {
  if (what === "branch") return branchStatus === "pending" ? "open" : (branchStatus ?? "");
  if (!entry)
    return what === "iteration" ? `${children.length} ${children.length === 1 ? "operation" : "operations"}` : "";
  switch (entry.kind) {
    case "loop":
      return entry.iteration === undefined ? "loop" : `iteration ${grouped(entry.iteration)}`;
    case "join":
      return `join of ${entry.branchCount ?? children.length}`;
    case "race":
      return entry.winner === undefined ? "race" : `race, won by ${entry.winner}`;
    case "message":
      return entry.timedOut ? "no message in time" : (entry.queues?.join(", ") ?? "message");
    case "step":
    case "rollback":
      return entry.attempts > 1 ? `${entry.attempts} attempts` : "";
    case "version_check":
      return entry.version === undefined ? "version" : `version ${entry.version}`;
    case "removed":
      return `removed ${entry.removedKind ?? ""}`;
    case "rollback_checkpoint":
      return "checkpoint";
    default:
      return entry.kind;
  }
}
