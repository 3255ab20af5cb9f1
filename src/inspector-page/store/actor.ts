/** The actor that is open: what the page knows of it. */
import { batch, computed, signal } from "@preact/signals";
import { addressOf, fragmentOf, isSameActor, type Address } from "../model/address.js";
import type { InspectedEntry, InspectedHistory, InspectedSummary, WorkflowParkedOn } from "../model/answers.js";
import { rowsOf, trailTo, treeOf } from "../model/tree.js";
import { ApiError, get } from "./api.js";
import { setClock } from "./clock.js";
import { remember } from "./lately-opened.js";
import { failedWith } from "./session.js";

/** Entries of one request, and of all: a history may have any number. */
const PAGE = 1_000;
const MAX_ENTRIES = 50_000;

export const address = signal<Address | undefined>(addressOf(location.hash));
export const summary = signal<InspectedSummary | undefined>(undefined);
export const entries = signal<readonly InspectedEntry[]>([]);
/** Whether there are more entries than the page reads. */
export const hasMoreEntries = signal(false);
/** Why the actor, or its history, is not shown. */
export const failure = signal<ApiError | undefined>(undefined);
export const historyFailure = signal<ApiError | undefined>(undefined);
export const isLoading = signal(false);
/** Counts up whenever the actor was read anew, so that open panels follow. */
export const reading = signal(0);
/** What a person has folded or unfolded. */
export const folds = signal<ReadonlyMap<string, boolean>>(new Map());
/** The id of the row that a person selected. */
const chosen = signal<string | undefined>(address.value?.entry);

export const tree = computed(() => treeOf(entries.value));
export const rows = computed(() => rowsOf(tree.value, folds.value));
/** The id of the selected row: what a person chose, or else what one wants to see first, whatever that is by now. */
export const selected = computed(() => chosen.value ?? firstToShow(entries.value, summary.value?.workflow.parkedOn));
export const selectedEntry = computed(() => entries.value.find(({ id }) => id === selected.value));

/** The parameters by which routes know the actor. */
export function parameters(of = address.value): Record<string, string> {
  return of ? { actor: of.name, key: JSON.stringify(of.key) } : {};
}

/** Shows another actor, or none. */
export function open(next: Address | undefined): void {
  const isOther = !isSameActor(next, address.value);
  batch(() => {
    address.value = next;
    chosen.value = next?.entry;
    if (isOther) forget();
  });
  writeFragment();
  if (next) void refresh();
}

function forget(): void {
  summary.value = undefined;
  entries.value = [];
  hasMoreEntries.value = false;
  failure.value = undefined;
  historyFailure.value = undefined;
  folds.value = new Map();
}

export function select(id: string | undefined): void {
  chosen.value = id;
  writeFragment();
}

/** Folds or unfolds what is below a row. */
export function fold(id: string, isOpen: boolean): void {
  folds.value = new Map(folds.value).set(id, isOpen);
}

/** Unfolds what is around an entry, and selects it. */
export function reveal(id: string): void {
  const next = new Map(folds.value);
  for (const node of trailTo(tree.value, id).slice(0, -1)) next.set(node.id, true);
  folds.value = next;
  select(id);
}

function writeFragment(): void {
  const current = address.value;
  const entry = chosen.value;
  const fragment = current
    ? fragmentOf({ name: current.name, key: current.key, ...(entry === undefined ? {} : { entry }) })
    : "";
  if (location.hash.slice(1) !== fragment)
    history.replaceState(null, "", fragment === "" ? location.pathname : `#${fragment}`);
}

/** Follows a link, or the buttons of the browser. */
export function followFragment(): void {
  const next = addressOf(location.hash);
  if (!isSameActor(next, address.value)) open(next);
  else chosen.value = next?.entry;
}

let current = 0;

/** Reads the actor anew. Of several at once the last counts. */
export async function refresh(): Promise<void> {
  const asked = address.value;
  if (!asked) return;
  const turn = ++current;
  const isCurrent = (): boolean => turn === current;
  isLoading.value = true;
  try {
    const found = await get<InspectedSummary>("summary", parameters(asked));
    if (!isCurrent()) return;
    const read = found.workflow.status === "none" ? { items: [], hasMore: false } : await readHistory(asked, isCurrent);
    if (!isCurrent()) return;
    batch(() => {
      setClock(found.now);
      summary.value = found;
      failure.value = undefined;
      if (read instanceof ApiError) historyFailure.value = read;
      else {
        historyFailure.value = undefined;
        entries.value = read.items;
        hasMoreEntries.value = read.hasMore;
      }
      reading.value += 1;
    });
    remember(asked);
    writeFragment();
  } catch (error) {
    if (!isCurrent()) return;
    failedWith(error);
    failure.value = error instanceof ApiError ? error : new ApiError(0, "page", String(error));
  } finally {
    if (isCurrent()) isLoading.value = false;
  }
}

/** What a person wants to see first: what is open, or what failed, or else the last. */
function firstToShow(items: readonly InspectedEntry[], parkedOn: WorkflowParkedOn | undefined): string | undefined {
  const place = JSON.stringify(parkedOn?.activities[0]?.location);
  const parked =
    parkedOn && items.findLast(({ location, status }) => isOpen(status) && JSON.stringify(location) === place);
  if (parkedOn) return (parked ?? items.findLast(({ status }) => isOpen(status)))?.id;
  const failed = items.findLast(({ status }) => status === "failed");
  return (failed ?? items.at(-1))?.id;
}

const isOpen = (status: string): boolean => status === "pending" || status === "running";

/** What a history is read into. */
interface ReadEntries {
  readonly items: readonly InspectedEntry[];
  readonly hasMore: boolean;
}

async function readHistory(of: Address, isCurrent: () => boolean): Promise<ReadEntries | ApiError> {
  const items: InspectedEntry[] = [];
  try {
    let from: string | undefined = "0";
    while (from !== undefined && items.length < MAX_ENTRIES && isCurrent()) {
      const page: InspectedHistory = await get("history", { ...parameters(of), from, limit: String(PAGE) });
      for (const item of page.items) items.push(item);
      from = page.next;
    }
    return { items, hasMore: from !== undefined };
  } catch (error) {
    failedWith(error);
    return error instanceof ApiError ? error : new ApiError(0, "page", String(error));
  }
}
