import { ActorError, isThenable } from "../../protocol/index.js";
import type { SqlSession, SqlTable } from "../api/database-types.js";
import { transactionEnded } from "./sql-transaction.js";

/** What a session runs on. */
export interface SessionSource {
  run(sql: string, parameters: readonly unknown[]): SqlTable;
  atomically<T>(work: () => T): T;
}

/** A session for synchronous drivers. `check` runs before each use and may refuse it; `transact` runs a transaction over turns. */
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

/** A transaction over turns would outlive the one of this turn that it is in. */
async function refuse(): Promise<never> {
  throw asynchronous(
    "A synchronous transaction cannot hold an asynchronous one: make the outer function `async` as well",
  );
}

/** The platform would take a promise, and undo nothing of what comes after its first `await`. */
function mustBeSynchronous<T>(result: T): T {
  if (!isThenable(result)) return result;
  // What becomes of it interests nobody any more.
  result.then(undefined, () => {});
  throw asynchronous(
    "The function of this transaction gave a promise: what it did is undone, and its `tx` is refused from " +
      "now on. Write it as `async (tx) => …`",
  );
}

function asynchronous(message: string): ActorError {
  return new ActorError("sqlite", "asynchronous_transaction", message);
}
