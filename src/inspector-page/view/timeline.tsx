/** The history: one list of rows of one height, of which only those in sight are in the document, on one axis of time. */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { segmentsOf } from "../model/segments.js";
import { timeAxis, type TimeAxis } from "../model/time-axis.js";
import { grouped, lengthOf, shortLength } from "../model/times.js";
import type { Row } from "../model/tree.js";
import { ROW_HEIGHT, scrollFor, visibleRows } from "../model/visible-rows.js";
import { entries, fold, hasMoreEntries, rows, select, selected, summary } from "../store/actor.js";
import { now } from "../store/clock.js";
import { isSheetOpen } from "./opened.js";
import { TimelineRow } from "./timeline-row.js";

export function Timeline() {
  const list = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [height, setHeight] = useState(600);
  const axis = useComputed(axisOfAll).value;
  const all = rows.value;
  const at = all.findIndex(({ node }) => node.id === selected.value);
  const { first, last } = visibleRows(scrollTop, height, all.length);

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // What a person selects comes into sight; what changes by itself does not move the list.
  useEffect(() => {
    const element = list.current;
    const to = element && at >= 0 ? scrollFor(at, element.scrollTop, element.clientHeight) : undefined;
    if (element && to !== undefined) element.scrollTop = to;
  }, [selected.value, at >= 0]);

  return (
    <section class="timeline" aria-label="History">
      <div class="axis" aria-hidden="true">
        <span class="count">{countText(axis)}</span>
        <AxisMarks axis={axis} />
      </div>
      {all.length === 0 && (
        <p class="faint empty">Nothing is recorded yet. A first attempt, and a wait without an end, have no entry.</p>
      )}
      <div
        ref={list}
        class="list"
        role={all.length === 0 ? "none" : "tree"}
        aria-label={all.length === 0 ? undefined : "Operations"}
        tabIndex={all.length === 0 ? -1 : 0}
        aria-activedescendant={at >= first && at < last ? `row-${at}` : undefined}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
        onKeyDown={(event) => onListKey(event, all, at, Math.floor(height / ROW_HEIGHT))}
      >
        <div class="rows" style={{ height: `${all.length * ROW_HEIGHT}px` }}>
          {all.slice(first, last).map((row, index) => (
            <TimelineRow
              key={row.node.id}
              row={row}
              index={first + index}
              axis={axis}
              isSelected={first + index === at}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

/** When anything began or ended. */
function axisOfAll(): TimeAxis {
  const moments: number[] = [];
  const { startedAt, endedAt, status } = summary.value?.workflow ?? {};
  if (startedAt !== undefined) moments.push(startedAt);
  if (endedAt !== undefined) moments.push(endedAt);
  const until = status === "running" || status === "rolling_back" ? now.value : undefined;
  for (const entry of entries.value)
    for (const { from, to } of segmentsOf(entry, until ?? entry.startedAt ?? 0)) moments.push(from, to);
  if (until !== undefined && moments.length > 0) moments.push(until);
  return timeAxis(moments);
}

function AxisMarks({ axis }: { readonly axis: TimeAxis }) {
  if (axis.to === axis.from) return <span class="marks" />;
  return (
    <span class="marks">
      {axis.breaks.map(({ from, to, left, right }) => (
        <span key={from} class="mark gap" style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}>
          {shortLength(to - from)}
        </span>
      ))}
    </span>
  );
}

function countText({ from, to }: TimeAxis): string {
  const { length } = entries.value;
  if (hasMoreEntries.value) return `the first ${grouped(length)} entries`;
  const count = `${grouped(length)} ${length === 1 ? "entry" : "entries"}`;
  return length === 0 ? "" : to === from ? count : `${count} in ${lengthOf(to - from)}`;
}

function onListKey(event: KeyboardEvent, all: readonly Row[], at: number, page: number): void {
  const row = all[at];
  const to = (index: number): void => {
    select(all[Math.max(0, Math.min(all.length - 1, index))]?.node.id);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => to(at + 1),
    ArrowUp: () => to(at - 1),
    PageDown: () => to(at + page),
    PageUp: () => to(at - page),
    Home: () => to(0),
    End: () => to(all.length - 1),
    ArrowRight: () => (row?.isOpen === false ? fold(row.node.id, true) : to(at + 1)),
    ArrowLeft: () => {
      if (row?.isOpen) fold(row.node.id, false);
      else to(all.findLastIndex(({ depth }, index) => index < at && depth < (row?.depth ?? 0)));
    },
    Enter: () => (isSheetOpen.value = true),
  };
  const pressed = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  if (!pressed || all.length === 0) return;
  event.preventDefault();
  pressed();
}
