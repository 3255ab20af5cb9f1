/**
 * What every store keeps, whatever it is made of. Brings no test runner: the caller hands in its own, and a way to visit
 * a fresh store where it lives (another process, or inside a Durable Object).
 */
import type { ContractTest, Expect, StoreUnderTest } from "./contract-subject.js";
import { DURABILITY_CONTRACT_TESTS } from "./durability-contract-tests.js";
import { SQL_CONTRACT_TESTS } from "./sql-contract-tests.js";
import { STORE_CONTRACT_TESTS } from "./store-contract-tests.js";
import { TRANSACTION_CONTRACT_TESTS } from "./transaction-contract-tests.js";

const EVERY_STORE: readonly ContractTest[] = [...STORE_CONTRACT_TESTS, ...DURABILITY_CONTRACT_TESTS];
const WITH_SQL: readonly ContractTest[] = [...EVERY_STORE, ...SQL_CONTRACT_TESTS, ...TRANSACTION_CONTRACT_TESTS];

export interface StoreContractOptions {
  readonly make: () => StoreUnderTest | Promise<StoreUnderTest>;
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
  readonly expect: Expect;
  /** Whether the store has SQL, and keeps that part of the contract. */
  readonly hasSql?: boolean;
  /** Tests that this store fails for a known reason. One that passes all the same fails the run. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** Defines the suite with the given test runner. */
export function storeContract(options: StoreContractOptions): void {
  const { describe, it, expect, make, hasSql, skip = [] } = options;
  const tests = hasSql ? WITH_SQL : EVERY_STORE;
  describe("store contract", () => {
    for (const test of tests) {
      const skipped = skip.find((each) => each.test === test.name);
      const run = async (): Promise<void> => test.run(await make(), expect);
      it(
        skipped ? `${test.name} (known to fail: ${skipped.reason})` : test.name,
        skipped ? () => mustFail(run, test.name) : run,
      );
    }
    it("every skip names a test of the contract", async () => {
      const names = new Set(tests.map((test) => test.name));
      expect(skip.map((each) => each.test).filter((name) => !names.has(name))).toEqual([]);
    });
  });
}

async function mustFail(run: () => Promise<void>, name: string): Promise<void> {
  try {
    await run();
  } catch {
    return;
  }
  throw new Error(`"${name}" passes now: take it out of the skips`);
}
