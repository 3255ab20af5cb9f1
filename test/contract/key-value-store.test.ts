import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { KeyValueStore } from "../../src/durable-object/index.js";
import { storeContract, type StoreUnderTest } from "../../src/testing/index.js";
import { KILLED } from "../support/kill.js";

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
let made = 0;

/** The storage of an object of its own; each visit is one event in it, a crash is `ctx.abort`. */
function make(): StoreUnderTest {
  made += 1;
  const id = ACTORS.idFromName(`contract-${made}`);
  return {
    async visit(body) {
      let crashed = false;
      // A stub is dead after an abort: each visit takes a new one.
      const visit = runInDurableObject(ACTORS.get(id), async (_instance, state) => {
        const store = new KeyValueStore(state.storage, (error) => {
          throw new Error(`an alarm was refused: ${String(error)}`);
        });
        const crash = async (): Promise<never> => {
          crashed = true;
          state.abort(KILLED);
          throw new Error("an aborted object goes on");
        };
        await body({ store, crash, nextTurn: () => scheduler.wait(0) });
      });
      await visit.catch((error: unknown) => {
        if (!crashed) throw error;
      });
    },
  };
}

storeContract({ make, describe, it, expect, hasSql: true });
