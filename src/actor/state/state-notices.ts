export interface StateLog {
  debug(entry: Readonly<Record<string, unknown>>): void;
  warn(entry: Readonly<Record<string, unknown>>): void;
}

/** The log lines about one state. Those that may be no fault are logged once. */
export class StateNotices {
  /** The state's name in errors. */
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
      "An object of another actor's state was put into this one as a copy. Actors do not share objects, such as a " +
      "constant of a module that several of them put into their states";
    this.#log.warn({ msg, state: this.#what, other });
  }

  /** Call when code read `constructor` of an object, mostly to compare classes. */
  constructorWasRead(): void {
    if (this.#hasToldOfConstructor) return;
    this.#hasToldOfConstructor = true;
    const msg =
      "`constructor` of an object of the state was read, which has none. Give a library that needs one, or that " +
      "refuses views (structuredClone, RPC), a plain copy: `snapshot(value)`";
    this.#log.debug({ msg, state: this.#what });
  }

  bytesWereTaken(path: string): void {
    const msg =
      "The bytes of a typed array or buffer of the state were transferred away; it is restored as last stored";
    this.#log.warn({ msg, path });
  }
}
