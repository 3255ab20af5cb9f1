/**
 * An actor's state, or a connection's, as one live object that can be stored at every moment.
 *
 * Owns: the current value, its depth, and whether it differs from what is stored. Does not own: its size
 * (state-size.ts). Invariants:
 *  1. A statement that would make the state impossible to store (no encoding, a cycle, depth, size) throws and changes
 *     nothing. Only writes through user code's own references can make it so (VALUE-7).
 *  2. After a commit each object is in one place, as after a restart (VALUE-9).
 */
import {
  ActorError,
  encodeValue,
  MAX_STORED_DEPTH,
  MAX_VALUE_BYTES,
  notSerializable,
  sameBytes,
} from "../../protocol/index.js";
import { HeldObjects } from "./held-objects.js";
import { Copies, sizeOf } from "./plain-values.js";
import { HandIn, type Recipient } from "./hand-in.js";
import { LentBytes } from "./lent-bytes.js";
import { memberPath } from "./members.js";
import type { OpenCallbacks, WatchedState } from "./open-callbacks.js";
import { Place, type PlaceOwner } from "./place.js";
import { Refusal, statementError, markedAsRefusal, type Bounds } from "./refusals.js";
import { separate, unlink } from "./separate.js";
import { StateNotices, type StateLog } from "./state-notices.js";
import { StateSize } from "./state-size.js";
import { StateView, type Guards } from "./state-view.js";
import type { TextSizes } from "./text-sizes.js";
import type { Change, ViewedState } from "./viewing.js";

/** The name of a kind of state in errors, and its limits. */
export interface StateKind extends Bounds {
  /** The limit of the stored encoding. Above `limitBytes`, so that estimates need not be exact (VALUE-12). */
  readonly storedLimitBytes: number;
}

export const ACTOR_STATE: StateKind = {
  what: "state",
  limitBytes: MAX_VALUE_BYTES,
  storedLimitBytes: MAX_VALUE_BYTES + 64_000,
};

/** What a state needs from its actor. */
export interface StateOwner {
  readonly actorId: string;
  readonly callbacks: OpenCallbacks;
  readonly log: StateLog;
  /** Called at the first change after a commit. */
  onDirty(): void;
}

export class StateTree implements Recipient, ViewedState, WatchedState {
  readonly shared = new Set<Place>();
  readonly copies = new Copies();
  readonly #lent = new LentBytes((place) => this.#notices.bytesWereTaken(this.pathOf(place)));
  readonly #held = new HeldObjects(this, this.#lent);
  readonly #owner: StateOwner;
  readonly #kind: StateKind;
  #root: unknown;
  #version = 0;
  #storedVersion = 0;
  #stored: Uint8Array | undefined;
  readonly #size: StateSize;
  readonly #notices: StateNotices;
  #encodedSize = 0;
  #mayDiffer = false;
  #isLocked = false;

  /** `stored` is the last committed encoding; absent for a new one. */
  constructor(root: unknown, stored: Uint8Array | undefined, owner: StateOwner, kind: StateKind = ACTOR_STATE) {
    this.#owner = owner;
    this.#kind = kind;
    this.#stored = stored;
    this.#root = root;
    this.#size = new StateSize(stored?.length ?? sizeOf(root), kind);
    this.#notices = new StateNotices(kind.what, owner.log);
    if (!stored) this.#version = 1;
    if (isObject(root)) new Place(root, this).enter(this);
  }

  // ---- reading -----------------------------------------------------------------------------------------------------

  /** The views for one context. The guards run at every access and change, and may throw. */
  createView(guards: Guards = {}): StateView {
    return new StateView(this, guards);
  }

  get root(): unknown {
    return this.#root;
  }

  get what(): string {
    return this.#kind.what;
  }

  get texts(): TextSizes {
    return this.#size.texts;
  }

  get bounds(): Bounds {
    return this.#kind;
  }

  get storedLimitBytes(): number {
    return this.#kind.storedLimitBytes;
  }

  /** True if there may be something to commit. */
  get isChanged(): boolean {
    return this.#mayDiffer || this.#lent.hasAny || this.#version !== this.#storedVersion;
  }

  /**
   * A number that differs after every change. Differs at every read while user code holds typed arrays of the state.
   */
  get version(): number {
    if (this.#lent.hasAny) this.#version += 1;
    return this.#version;
  }

  /** Runs code that must not change the state through any view. */
  whileLocked<T>(run: () => T): T {
    this.#isLocked = true;
    try {
      return run();
    } finally {
      this.#isLocked = false;
    }
  }

  /** @throws {actor/state_mutation_reentrant} when the view is read-only or the state is locked */
  checkWritable(isReadOnly: boolean): void {
    if (!isReadOnly && !this.#isLocked) return;
    throw new ActorError("actor", "state_mutation_reentrant", "`onStateChange` must not change the state");
  }

  // ---- changes -----------------------------------------------------------------------------------------------------

  /**
   * Replaces the whole state. Changes nothing when it throws.
   * @throws {value/not_serializable} when the value cannot be stored
   * @throws {value/too_large} when it is too large
   */
  replaceRoot(value: unknown): void {
    const old = this.#root;
    this.#change(undefined, {
      add: [value],
      remove: [old],
      extraBytes: 0,
      path: () => "",
      apply: ([root]) => (this.#root = root),
    });
  }

  /** Replaces the root by an object with the same content. */
  moveRoot(root: object): void {
    this.#root = root;
  }

  /**
   * Adds and removes members of one object. Changes nothing when it throws.
   * @throws {value/not_serializable} when a new member cannot be stored
   * @throws {value/too_large} when the state would be too large
   */
  change(place: Place, change: Change): void {
    this.#change(place, change);
  }

  /** Makes a change that adds and removes no objects. */
  resize(place: Place, bytes: number, path: () => string, apply: () => void): void {
    const added = this.#size.makeRoom(
      this.#root,
      bytes === 0 ? 0 : place.occurrences(),
      () => bytes,
      () => this.pathOf(place) + path(),
    );
    apply();
    this.#size.bytes += added;
    this.touch();
  }

  /** Sets a property of a plain object from one primitive value to another; `old` is undefined for a new property. */
  setLeaf(
    place: Place,
    key: string,
    old: { readonly value: unknown } | undefined,
    value: unknown,
    path: () => string,
    apply: () => void,
  ): void {
    const times = place.occurrences();
    const { texts } = this;
    let counted = 0;
    const bytes = (isExact: boolean): number => {
      counted = isExact ? sizeOf(value) : texts.estimate(value, sizeOf);
      if (!old) return counted + sizeOf(key);
      if (isExact) return counted - sizeOf(old.value);
      return (
        counted -
        (times === 1 || typeof old.value !== "string"
          ? texts.counted(place, key, old.value, sizeOf)
          : texts.least(old.value))
      );
    };
    const added = this.#size.makeRoom(this.#root, times, bytes, () => this.pathOf(place) + path());
    apply();
    if (times === 1) texts.count(place, key, value, counted);
    else texts.drop(place, key);
    this.#size.bytes += added;
    this.touch();
  }

  #change(place: Place | undefined, { add, remove, extraBytes, path, apply }: Change): void {
    const handIn = new HandIn(this, place);
    const depth = place ? place.depth() + 1 : 0;
    const pathTo = (index: number): string => (place ? this.pathOf(place) : this.what) + path(index);
    const taken: unknown[] = [];
    try {
      for (const value of add) taken.push(handIn.take(value));
      if (handIn.height > 0 && depth + handIn.height > MAX_STORED_DEPTH)
        throw new Refusal(`nesting deeper than ${MAX_STORED_DEPTH} levels`);
    } catch (error) {
      const index = Math.min(taken.length, add.length - 1);
      throw statementError(error, add[index], { path: pathTo(index), depth, ...this.#kind });
    }
    const times = place ? place.occurrences() : 1;
    const bytes = this.#size.makeRoom(
      this.#root,
      times,
      (isExact) => handIn.bytes + extraBytes - this.#size.bytesOf(remove, isExact),
      () => pathTo(largestOf(taken)),
    );
    handIn.apply();
    apply(taken);
    const container = place ?? this;
    for (const raw of remove) if (isObject(raw)) Place.of(raw)?.leave(container);
    for (const raw of taken) if (isObject(raw)) Place.of(raw)?.enter(container);
    this.#letGo(remove);
    this.#size.bytes += bytes;
    this.touch();
  }

  /** Unlinks removed objects from members that are still in the state. */
  #letGo(removed: readonly unknown[]): void {
    if (this.shared.size === 0) return;
    for (const raw of removed) {
      const place = isObject(raw) ? Place.of(raw) : undefined;
      if (place && !place.isPlaced) unlink(place);
    }
  }

  touch(): void {
    const wasClean = this.#version === this.#storedVersion;
    this.#version += 1;
    if (wasClean) this.#owner.onDirty();
  }

  // ---- hand-in -----------------------------------------------------------------------------------------------------

  watch(handedIn: readonly object[]): void {
    this.#held.add(handedIn);
    this.#owner.callbacks.handedIn(this);
  }

  lend(raw: object): void {
    this.#lent.add(raw);
    this.#owner.callbacks.handedIn(this);
  }

  mayDiffer(): void {
    this.#mayDiffer = true;
    this.#owner.onDirty();
  }

  copiedFromElsewhere(owner: PlaceOwner): void {
    if (owner instanceof StateTree && owner.#owner.actorId !== this.#owner.actorId)
      this.#notices.copiedFromActor(owner.#owner.actorId);
  }

  constructorWasRead(): void {
    this.#notices.constructorWasRead();
  }

  // ---- commit ------------------------------------------------------------------------------------------------------

  /** The encoding to store; undefined if nothing changed. Throws only for writes through user code's own references. */
  encodeChanges(): Uint8Array<ArrayBuffer> | undefined {
    if (!this.isChanged) return undefined;
    const bytes = this.encode();
    return this.#stored && sameBytes(bytes, this.#stored) ? undefined : bytes;
  }

  /**
   * @throws {value/not_serializable} when user code's own references made the state impossible to store
   * @throws {value/too_large} when they made it too large
   */
  encode(): Uint8Array<ArrayBuffer> {
    this.#lent.restore();
    this.#held.follow();
    separate(this.shared);
    const options = { what: this.what, limitBytes: this.#kind.storedLimitBytes };
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = encodeValue(this.#root, options);
    } catch {
      this.#held.unwrapViews(this.#root);
      bytes = encodeValue(this.#root, options);
    }
    this.#encodedSize = bytes.length;
    return bytes;
  }

  /** Call after a commit, with the encoding that `encodeChanges` returned. */
  committed(bytes?: Uint8Array): void {
    if (this.isChanged) this.#size.measuredAs(this.#encodedSize);
    this.#storedVersion = this.#version;
    this.#mayDiffer = false;
    if (bytes) this.#stored = bytes;
    this.#lent.stored();
    if (!this.#owner.callbacks.isWatched(this)) this.#held.forget();
  }

  // ---- refusals ----------------------------------------------------------------------------------------------------

  pathOf(place: Place): string {
    const [parent] = place.parents;
    return parent instanceof Place ? this.pathOf(parent) + memberPath(parent.raw, place.raw) : this.what;
  }

  refuse(place: Place, path: string, found: string): never {
    throw markedAsRefusal(notSerializable(this.pathOf(place) + path, found));
  }
}

/** Index of the largest value, which the error names. */
function largestOf(values: readonly unknown[]): number {
  let largest = 0;
  let most = -1;
  for (const [index, value] of values.entries()) {
    const bytes = sizeOf(value);
    if (bytes > most) [largest, most] = [index, bytes];
  }
  return largest;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
