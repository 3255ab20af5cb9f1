import type { Answer } from "./answer.js";

/** The answers of a double, in sequence: each attempt takes the next one, and the last is repeated. */
export class Answers {
  readonly #all: Answer[] = [];
  #next = 0;
  /** Whether they may stay unused. */
  areOptional = false;

  add(answer: Answer): void {
    this.#all.push(answer);
  }

  /** Whether it has answers that must be used, and none was taken. */
  get areUnused(): boolean {
    return !this.areOptional && this.#all.length > 0 && this.#next === 0;
  }

  has(answer: Answer | undefined): boolean {
    return answer !== undefined && this.#all.includes(answer);
  }

  /** The answer for the next attempt; undefined if there is none. */
  take(): Answer | undefined {
    const answer = this.#all[this.#next] ?? this.#all.at(-1);
    this.#next = Math.min(this.#next + 1, this.#all.length);
    return answer;
  }
}
