import { ActorError, isThenable } from "../../protocol/index.js";
import type { SqlSession, SqlTable } from "../api/database-types.js";
import { transactionEnded } from "./sql-transaction.js";

/** What a session runs on. */
export interface SessionSource {
  run(sql: string, parameters: readonly unknown[]): SqlTable;
  atomically<T>(work: () => T): T;
}

/** A session for synchronous drivers. `check` runs before each use and may throw; `transact` runs a transaction that spans turns. */
export function createSession(
  source: SessionSource,
  check: () => void,
  transact: SqlSession["transaction"],
): SqlSession {
  return {
    run: (sql, parameters) => {
      check();
      return source.run(sql, parameters);
    },
    atomically: (work) => {
      check();
      let hasEnded = false;
      const checkInner = (): void => {
        if (hasEnded) throw transactionEnded();
        check();
      };
      try {
        return source.atomically(() => mustBeSynchronous(work(createSession(source, checkInner, refuse))));
      } finally {
        hasEnded = true;
      }
    },
    transaction: transact,
  };
}

/** A transaction that spans turns cannot be nested in one that ends with this turn. */
async function refuse(): Promise<never> {
  throw asynchronous(
    "A synchronous transaction cannot hold an asynchronous one: make the outer function `async` as well",
  );
}

/** The platform would accept a promise, and roll back nothing that happens after its first `await`. */
function mustBeSynchronous<T>(result: T): T {
  if (!isThenable(result)) return result;
  // Its outcome is ignored; without this it would be an unhandled rejection.
  result.then(undefined, () => {});
  throw asynchronous(
    "The function of this transaction gave a promise: what it did is undone, and its `tx` is refused from " +
      "now on. Write it as `async (tx) => …`",
  );
}

function asynchronous(message: string): ActorError {
  return new ActorError("sqlite", "asynchronous_transaction", message);
}
