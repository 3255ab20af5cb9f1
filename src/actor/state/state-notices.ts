export interface StateLog {
  debug(entry: Readonly<Record<string, unknown>>): void;
  warn(entry: Readonly<Record<string, unknown>>): void;
}

/** What the log says of one state; what is no fault by itself is said once. */
export class StateNotices {
  /** What errors call the state. */
  readonly #what: string;
  readonly #log: StateLog;
  #hasToldOfCopies = false;
  #hasToldOfConstructor = false;

  constructor(what: string, log: StateLog) {
    this.#what = what;
    this.#log = log;
  }

  copiedFromActor(other: string): void {
    if (this.#hasToldOfCopies) return;
    this.#hasToldOfCopies = true;
    const msg =
      "An object of another actor's state was put into this one, as a copy: a constant of a module that " +
      "several actors put into their states would be one object for all of them";
    this.#log.warn({ msg, state: this.#what, other });
  }

  /** Somebody compares classes: the log says what helps. */
  constructorWasRead(): void {
    if (this.#hasToldOfConstructor) return;
    this.#hasToldOfConstructor = true;
    const msg =
      "`constructor` of an object of the state was read, which has none. A library that needs one, or that " +
      "refuses views (structuredClone, RPC), takes a plain copy: `snapshot(value)`";
    this.#log.debug({ msg, state: this.#what });
  }

  bytesWereTaken(path: string): void {
    const msg = "The bytes of a typed array or buffer of the state were taken away; it is as it was last stored";
    this.#log.warn({ msg, path });
  }
}
