import { MAX_STORED_DEPTH } from "../../protocol/index.js";
import { HandIn, type Recipient } from "./hand-in.js";
import type { LentBytes } from "./lent-bytes.js";
import { memberPath, replaceMembers } from "./members.js";
import { Place } from "./place.js";
import { statementError, type Bounds } from "./refusals.js";
import { seenThrough } from "./viewing.js";

interface HoldingState extends Recipient {
  readonly bounds: Bounds;
  pathOf(place: Place): string;
  /** Replaces the root by an object with the same content. */
  moveRoot(root: object): void;
}

/**
 * Containers that user code put into the state and may still write to through its own references. Before a commit,
 * whatever was written that way becomes part of the state, as if a statement had put it in (VALUE-7).
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

  /** Call once no callback is running that may have handed them in. */
  forget(): void {
    if (this.#held.size > 0) this.#held = new Set();
  }

  /**
   * Makes what was written part of the state.
   * @throws {value/not_serializable} when it cannot be stored
   * @throws {value/too_large} when the state would be too large with it
   */
  follow(): void {
    if (this.#held.size === 0) return;
    const held = this.#held;
    this.#held = new Set();
    for (const raw of held) {
      const place = Place.of(raw);
      if (!place || place.owner !== this.#state) continue;
      // No longer in the state. If it comes back, it is handed in again.
      if (place.occurrences() === 0) continue;
      if (!Object.isExtensible(raw)) {
        this.#thaw(place);
        continue;
      }
      replaceMembers(raw, (member) => this.#settled(member, place));
      this.#held.add(raw);
    }
  }

  /** Replaces views that user code wrote into the state, at any depth, by the objects behind them. */
  unwrapViews(value: unknown, depth = 0): void {
    if (typeof value !== "object" || value === null || depth > MAX_STORED_DEPTH) return;
    replaceMembers(seenThrough(value)?.raw ?? value, (member) => {
      const raw = this.#lent.restored(seenThrough(member)?.raw ?? member);
      this.unwrapViews(raw, depth + 1);
      return raw;
    });
  }

  /** User code froze the container: replaces it by another with the same members. */
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
      throw statementError(error, member, { path, depth: place.depth() + 1, ...this.#state.bounds });
    }
    handIn.apply();
    Place.of(raw)?.enter(place);
    return raw;
  }
}
