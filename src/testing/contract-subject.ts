/** What a test of the contract in store.contract.ts is, and where it runs. */
import type { Store } from "../actor/ports.js";

/** One life of the process that uses the store. */
export interface StoreLife {
  readonly store: Store;
  /** Lets the current turn end; what was committed in it is then beyond the reach of `crash`. */
  nextTurn(): Promise<void>;
  /** A kill without notice, at this instruction. Never returns to its caller. */
  crash(): Promise<never>;
}

/** A store with a storage of its own, empty at first. */
export interface StoreUnderTest {
  /** Runs `body` as one event where the store lives. What `crash` ends counts as done; any other failure rejects. */
  visit(body: (life: StoreLife) => Promise<void>): Promise<void>;
}

export type Expect = (actual: unknown, message?: string) => { toEqual(expected: unknown): void };

export interface ContractTest {
  readonly name: string;
  run(subject: StoreUnderTest, expect: Expect): Promise<void>;
}
