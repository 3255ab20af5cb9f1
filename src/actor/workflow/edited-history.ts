import { encodeEntry, heldMessages, rowOf, type Entry, type History, type Restart } from "../../workflow/index.js";
import type { PartActor } from "../activation/part.js";
import { KEYS } from "../storage/record.js";
import { returnedBy } from "./workflow-plan.js";

/** Adds an entry that was edited to the dirty set. */
export function putEntry(actor: PartActor, entry: Entry): void {
  entry.rev = actor.nextSeq();
  actor.put(KEYS.entry(rowOf(entry)), () => encodeEntry(entry));
}

/** Adds what a restart has edited to the dirty set. Messages return to the queue under their old ids, even if it is full. */
export function putRestart(actor: PartActor, history: History, { changed, removed, vacant }: Restart): void {
  for (const row of vacant) actor.delete(KEYS.entry(row));
  for (const entry of removed) {
    const { held, taken } = returnedBy(entry);
    actor.queue.putBack(held, true);
    actor.queue.putBack(taken, false);
    actor.delete(KEYS.entry(rowOf(entry)));
  }
  for (const entry of changed) putEntry(actor, entry);
  for (const entry of history.entries()) actor.queue.holdAgain(heldMessages(entry));
}
