/** What of the page is open. */
import { signal } from "@preact/signals";
import type { VerbName } from "../model/verbs.js";

export type PanelName = "state" | "queue" | "schedules" | "connections" | "data" | "actions";

/** The drawer in which a workflow is mended. */
export const isMending = signal(false);
/** What is asked first in it. */
export const askedVerb = signal<VerbName | undefined>(undefined);

export function mend(verb?: VerbName): void {
  askedVerb.value = verb;
  isMending.value = true;
}

/** On a narrow screen: the selected entry, over the list. */
export const isSheetOpen = signal(false);
export const openPanels = signal<ReadonlySet<PanelName>>(new Set());

export function togglePanel(name: PanelName, isOpen: boolean): void {
  if (openPanels.value.has(name) === isOpen) return;
  const next = new Set(openPanels.value);
  if (isOpen) next.add(name);
  else next.delete(name);
  openPanels.value = next;
}

/** Opens a panel, and leads there. */
export function openPanel(name: PanelName): void {
  togglePanel(name, true);
  requestAnimationFrame(() => {
    const panel = document.getElementById(`panel-${name}`);
    panel?.scrollIntoView({ block: "start" });
    panel?.querySelector<HTMLElement>("summary")?.focus();
  });
}
