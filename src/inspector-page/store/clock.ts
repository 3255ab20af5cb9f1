/** The object's time, which may differ from the reader's clock. */
import { signal } from "@preact/signals";

let ahead = 0;

/** The object's time, epoch ms; each second anew. */
export const now = signal(Date.now());

/** `objectNow`: what the object's clock showed a moment ago. */
export function setClock(objectNow: number): void {
  ahead = objectNow - Date.now();
  now.value = objectNow;
}

export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") now.value = Date.now() + ahead;
  }, 1_000);
}
