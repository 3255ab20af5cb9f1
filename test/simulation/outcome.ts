/** What a program's actor must have come to when nothing more happens. */
import { decodeValue } from "../../src/protocol/index.js";
import type { WorldActor } from "../../src/testing/index.js";
import type { Entry } from "../../src/workflow/internal.js";
import { OCCURRENCES, type ProgramState } from "./program-state.js";
import { isProgramStep, pathOf, read } from "./invariants.js";
import type { Ledger } from "./ledger.js";
import type { Program } from "./programs.js";

export function checkOutcome(actor: WorldActor, program: Program, ledger: Ledger, say: (what: string) => void): void {
  const rows = actor.store.dump();
  const stored = read(rows);
  if (!stored) return say("the actor was never created");
  const { record, state, entries } = stored;
  const { status, failure } = record.workflow;
  const wanted = program.fails ? "failed" : "completed";
  if (status !== wanted) say(`ended ${status} (${failure?.error.message ?? ""}), not ${wanted}`);
  if (program.fails && failure?.error.message !== "the program's end") say(`failed with ${failure?.error.message}`);
  if (actor.holdsLease) say("a lease is left");
  if (actor.store.alarmAt !== null) say(`an alarm is left at ${actor.store.alarmAt}`);
  if ([...rows.keys()].some((key) => /^[dfh]\//.test(key))) say("a deadline is left, or the history of a job");
  if (actor.timersHeld > 0) say("a timer is left");
  if (ledger.over.has(record.actorId) || ledger.doomed.has(record.actorId))
    say(`${record.actorId} was to end, and lives`);

  checkUndone(program, state, entries, say);
  checkEffects(record.actorId, state, ledger, say);
  checkRecurring(record.actorId, state, ledger, say);
  checkMessages(record.actorId, program, state, entries, [...stored.queued.keys()], ledger, say);
  for (const { id, outcome } of ledger.waiting) if (outcome === undefined) say(`the sender of ${id} still waits`);
}

function checkEffects(life: string, state: ProgramState, ledger: Ledger, say: (what: string) => void): void {
  for (const [what, list, effects] of [
    ["add", ledger.added, state.added],
    ["tick", ledger.scheduled, state.ticked],
  ] as const) {
    for (const id of ledger.acknowledgedBy(life, list))
      if (effects[id] !== 1) say(`${what} ${id} took effect ${effects[id] ?? 0} times`);
    const possible = ledger.possibleIn(life, list);
    for (const [id, times] of Object.entries(effects)) {
      if (times !== 1) say(`${what} ${id} took effect ${times} times`);
      if (!possible.has(id)) say(`${what} ${id} belongs to another life`);
    }
  }
}

/** A job takes effect so often, each time once, and then is over; of one that nobody knows of nothing may have come. */
function checkRecurring(life: string, state: ProgramState, ledger: Ledger, say: (what: string) => void): void {
  const effects = new Map<string, number>();
  for (const key of Object.keys(state.recurred))
    effects.set(key.split("@")[0] ?? "", (effects.get(key.split("@")[0] ?? "") ?? 0) + 1);
  for (const id of ledger.acknowledgedBy(life, ledger.recurring))
    if (!effects.has(id)) say(`job ${id} never took effect`);
  const possible = ledger.possibleIn(life, ledger.recurring);
  for (const [id, times] of effects) {
    if (times !== OCCURRENCES) say(`job ${id} took effect ${times} times`);
    if (!possible.has(id)) say(`job ${id} belongs to another life`);
  }
}

function checkMessages(
  life: string,
  program: Program,
  state: ProgramState,
  entries: readonly Entry[],
  queued: readonly string[],
  ledger: Ledger,
  say: (what: string) => void,
): void {
  const seen = state.received;
  for (const body of new Set(seen))
    if (seen.filter((each) => each === body).length > 1) say(`message ${body} was received twice`);
  const text = JSON.stringify(program.body);
  const inRaces = text.includes('"kind":"race"');
  const recorded = entries
    .filter((entry) => entry.kind === "message" && entry.status === "completed" && entry.value !== undefined)
    .flatMap((entry) =>
      (decodeValue(entry.value as Uint8Array) as { body: Uint8Array }[]).map((message) =>
        String(decodeValue(message.body)),
      ),
    );
  for (const body of ledger.acknowledgedBy(life, ledger.sent)) {
    const isCompleted = state.completed.includes(body);
    const places = Number(queued.includes(body)) + Number(seen.includes(body)) + Number(isCompleted);
    if (places > 1 || (places === 0 && !inRaces)) say(`message ${body} is in ${places} places`);
    // Without loops nothing is pruned, so that what was taken, by a race's winner too, still stands in the history.
    const held =
      queued.filter((each) => each === body).length +
      recorded.filter((each) => each === body).length +
      Number(isCompleted);
    if (!text.includes('"kind":"loop"') && held !== 1) say(`message ${body} is in ${held} places of queue and history`);
  }
  const possible = ledger.possibleIn(life, ledger.sent);
  for (const body of [...seen, ...queued, ...state.completed])
    if (!possible.has(body)) say(`message ${body} was not sent to this life`);
}

function checkUndone(
  program: Program,
  state: ProgramState,
  entries: readonly Entry[],
  say: (what: string) => void,
): void {
  if (!program.fails && state.undoneOrder.length > 0) say("something was undone though the program succeeded");
  const order = new Map(
    entries
      .filter((entry) => entry.status === "completed" && isProgramStep(entry))
      .map((entry) => [pathOf(entry), entry.completedSeq ?? 0]),
  );
  const orders = state.undoneOrder.map((path) => order.get(path) ?? 0);
  if (orders.some((at, index) => index > 0 && at > (orders[index - 1] ?? 0)))
    say(`undone in the wrong order: ${state.undoneOrder.join(", ")}`);
  if (!program.fails) return;
  for (const node of program.body) {
    if (node.kind === "step" && node.rollback && state.undone[`/${node.name}`] !== 1)
      say(`/${node.name} was not undone`);
  }
}
