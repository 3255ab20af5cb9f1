import { MAX_STORED_DEPTH } from "../../protocol/index.js";
import { HandIn, type Recipient } from "./hand-in.js";
import type { LentBytes } from "./lent-bytes.js";
import { memberPath, replaceMembers } from "./members.js";
import { Place } from "./place.js";
import { refusalOf, type Bounds } from "./refusals.js";
import { seenThrough } from "./views-by-object.js";

interface HoldingState extends Recipient {
  readonly bounds: Bounds;
  pathOf(place: Place): string;
  /** The same root, in another object. */
  moveRoot(root: object): void;
}

/**
 * Containers that user code has handed in and may still write to, past all views. What it has written becomes part of the
 * state before a commit, as if it had been handed in.
 */
export class HeldObjects {
  readonly #state: HoldingState;
  readonly #lent: LentBytes;
  #held = new Set<object>();

  constructor(state: HoldingState, lent: LentBytes) {
    this.#state = state;
    this.#lent = lent;
  }

  add(handedIn: readonly object[]): void {
    for (const raw of handedIn) this.#held.add(raw);
  }

  /** No callback runs any more that may have handed them in. */
  forget(): void {
    if (this.#held.size > 0) this.#held = new Set();
  }

  /** @throws value/not_serializable, value/too_large for what was written */
  follow(): void {
    if (this.#held.size === 0) return;
    const held = this.#held;
    this.#held = new Set();
    for (const raw of held) {
      const place = Place.of(raw);
      if (!place || place.owner !== this.#state) continue;
      // Taken out of the state: should it come back, it is handed in again.
      if (place.occurrences() === 0) continue;
      if (!Object.isExtensible(raw)) {
        this.#thaw(place);
        continue;
      }
      replaceMembers(raw, (member) => this.#settled(member, place));
      this.#held.add(raw);
    }
  }

  /** Views that user code has written into the state, wherever they stand: each becomes what is behind it. */
  takeViewsOut(value: unknown, depth = 0): void {
    if (typeof value !== "object" || value === null || depth > MAX_STORED_DEPTH) return;
    replaceMembers(seenThrough(value)?.raw ?? value, (member) => {
      const raw = this.#lent.restored(seenThrough(member)?.raw ?? member);
      this.takeViewsOut(raw, depth + 1);
      return raw;
    });
  }

  /** User code has frozen what it had handed in: another container with the same members stands in its place. */
  #thaw(place: Place): void {
    const handIn = new HandIn(this.#state, undefined);
    const raw = handIn.take(place.raw) as object;
    handIn.apply();
    for (const parent of place.parents) {
      const slots = place.countIn(parent);
      if (parent instanceof Place) replaceMembers(parent.raw, (member) => (member === place.raw ? raw : member));
      else this.#state.moveRoot(raw);
      place.leave(parent, slots);
      for (let i = 0; i < slots; i++) Place.of(raw)?.enter(parent);
    }
  }

  #settled(member: object, place: Place): object {
    const known = Place.of(member);
    if (known?.owner === this.#state && Object.isExtensible(member) && known.countIn(place) > 0) return member;
    const handIn = new HandIn(this.#state, place);
    let raw: object;
    try {
      raw = handIn.take(member) as object;
    } catch (error) {
      const path = this.#state.pathOf(place) + memberPath(place.raw, member);
      throw refusalOf(error, member, { path, depth: place.depth() + 1, ...this.#state.bounds });
    }
    handIn.apply();
    Place.of(raw)?.enter(place);
    return raw;
  }
}
