import type { Invariants } from "./invariants.js";
import type { Watch } from "./program-state.js";

export interface ProgramWatchPorts {
  readonly invariants: Invariants;
  /** Which process lives: counts deaths. */
  readonly process: () => number;
  readonly note: (what: string) => void;
  readonly say: (what: string) => void;
}

/** Checks what the simulated program tells of itself, and knows what it does and waits for. */
export class ProgramWatch implements Watch {
  destroyInStep = false;
  readonly #ports: ProgramWatchPorts;
  readonly #running = new Map<string, number>();
  /** What the program waits for, as its latest run has said. */
  readonly #waiting = new Map<string, readonly string[]>();
  /** Whose waits those are: a process that died may have waited for what its last turn, which is lost, brought it to. */
  #waitsIn = 0;
  #durablyWaiting: (readonly string[])[] = [];

  constructor(ports: ProgramWatchPorts) {
    this.#ports = ports;
  }

  /** Whether work goes on, in the process that lives, that a crash would interrupt. */
  get works(): boolean {
    return [...this.#running].some(([key, count]) => count > 0 && key.startsWith(`${this.#ports.process()}:`));
  }

  /** The queues of each wait that a start would come to as well. */
  get openWaits(): (readonly string[])[] {
    return this.#waitsIn === this.#ports.process() ? [...this.#waiting.values()] : this.#durablyWaiting;
  }

  /** The turn is stored: a start comes to the waits of now. */
  durable(): void {
    this.#durablyWaiting = [...this.#waiting.values()];
  }

  violation(what: string): void {
    this.#ports.say(what);
  }

  attempt(path: string, begins: boolean, life: string): void {
    const { note, say, invariants } = this.#ports;
    const key = `${this.#ports.process()}:${life}:${path}`;
    const now = (this.#running.get(key) ?? 0) + (begins ? 1 : -1);
    this.#running.set(key, now);
    note(`${begins ? "begin" : "end"} ${path}`);
    if (now > 1) say(`two attempts of ${path} at a time`);
    if (begins && invariants.dead.has(life)) say(`${path} began in ${life}, which is dead`);
  }

  began(): void {
    this.#waiting.clear();
    this.#waitsIn = this.#ports.process();
  }

  waits(at: string, queues: readonly string[] | undefined): void {
    if (queues) this.#waiting.set(at, queues);
    else this.#waiting.delete(at);
  }

  acknowledged(life: string, body: string): void {
    if (!this.#ports.invariants.knows(life, body))
      this.#ports.say(`message ${body} was acknowledged, and is not stored`);
  }

  completed(life: string, body: string): void {
    if (this.#ports.invariants.isQueued(life, body))
      this.#ports.say(`message ${body} was completed, and is in the queue`);
  }
}
