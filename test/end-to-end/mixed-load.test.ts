import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FixtureServer } from "./fixture-server.js";
import { Load, violations, type Operation } from "./fixtures/mixed-load/load.js";
import { Ledger } from "./ledger.js";

// KILLS=25 ACTORS=200 npx vitest run test/end-to-end/mixed-load.test.ts
const KILLS = Number(process.env["KILLS"] ?? 3);
const ACTORS = Number(process.env["ACTORS"] ?? 40);
const SEED = Number(process.env["SEED"] ?? 1);
/** Within that time after the last start actors and ledger must agree. */
const LIMIT_MS = 60_000;
/** What is kept for the one status read of each actor. */
const READ_MS = 15_000;
/** A lease that nobody extends is over by then: what was cut off at the last kill has been taken up again. */
const LEAST_MS = KILLS > 5 ? 40_000 : 12_000;

describe("SIGKILL under a mixed load", () => {
  let server: FixtureServer;
  let ledger: Ledger;
  beforeAll(async () => {
    [server, ledger] = await Promise.all([
      FixtureServer.start(join(import.meta.dirname, "fixtures", "mixed-load", "wrangler.toml")),
      Ledger.open(),
    ]);
  });
  afterAll(async () => {
    ledger?.close();
    await server?.stop();
  });

  test(
    `${ACTORS} actors, killed ${KILLS} times, come to agree with the ledger by themselves`,
    { timeout: 20 * 60_000 },
    async () => {
      const load = new Load(server.url, ledger.url, ACTORS, SEED);
      await load.create();
      let killedAt = 0;
      for (let kills = 0; kills < KILLS; kills += 1) {
        const over = new AbortController();
        const running = load.run(over.signal);
        await delay(load.between(500, 3_000));
        // Nothing new is begun; what is under way is cut off.
        over.abort();
        await server.dev.kill();
        killedAt = Date.now();
        await running;
        await server.dev.start();
      }

      // From here on nobody calls an actor until its one status is read: what brings it back is its own alarm.
      const startedAt = Date.now();
      const sent = load.accounts.flat().filter(({ acknowledged, kind }) => acknowledged && !kind.startsWith("add"));
      const isTold = (): boolean => {
        const told = new Set(ledger.lines.map(({ text }) => text));
        return sent.every(({ id }) => told.has(id));
      };
      while (Date.now() - startedAt < LIMIT_MS - READ_MS && (Date.now() - startedAt < LEAST_MS || !isTold()))
        await delay(100);
      const after = ledger.lines.filter(({ at }) => at > killedAt);
      const lastMs = (after.at(-1)?.at ?? killedAt) - killedAt;
      const statuses = await Promise.all(load.accounts.map((_, index) => load.status(index)));
      const agreedMs = Date.now() - startedAt;

      const found = statuses.flatMap((status, index) =>
        violations(load.accounts[index] ?? [], status).map((what) => `actor ${index}, ${what}`),
      );
      const happened = statuses.reduce((sum, { counts }) => sum + Object.values(counts).reduce((a, b) => a + b, 0), 0);
      const told = ledger.lines.length - new Set(ledger.lines.map(({ text }) => text)).size;
      const entries = Math.max(...statuses.map((status) => status.entries));
      console.log(
        [
          `mixed load: seed ${SEED}, ${ACTORS} actors, ${KILLS} kills, ${found.length} violations`,
          `  ${summary(load.accounts.flat())}`,
          `  ${happened} effects; the ledger was told ${ledger.lines.length} times, ${told} of them again; ` +
            `${after.length} times after the last kill, until ${lastMs} ms after it`,
          `  read ${agreedMs} ms after the last start; at most ${entries} entries in a history`,
        ].join("\n"),
      );
      expect(found).toEqual([]);
      expect(agreedMs).toBeLessThan(LIMIT_MS);
    },
  );
});

function summary(operations: readonly Operation[]): string {
  const kinds = Map.groupBy(operations, ({ kind }) => kind);
  const each = [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, of]) => `${kind} ${of.filter(({ acknowledged }) => acknowledged).length}/${of.length}`);
  return `acknowledged ${operations.filter(({ acknowledged }) => acknowledged).length} of ${operations.length}: ${each.join(", ")}`;
}
