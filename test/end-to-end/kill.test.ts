import { createClient } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, FixtureServer } from "./fixture-server.js";
import type { registry } from "./fixtures/actors.js";
import { Ledger } from "./ledger.js";

const STEPS = Array.from({ length: 50 }, (_, index) => index + 1);
/** The server dies while each of these runs, for the first time. */
const KILLED_IN = ["step-9", "step-10", "step-31"];

describe("SIGKILL of wrangler and workerd", () => {
  let server: FixtureServer;
  let ledger: Ledger;
  beforeAll(async () => {
    [server, ledger] = await Promise.all([FixtureServer.start(), Ledger.open()]);
  });
  afterAll(async () => {
    ledger?.close();
    await server?.stop();
  });

  test("a workflow of 50 steps goes on by itself, repeats only the step that was cut off, and changes state once a step", async () => {
    let kills = 0;
    const { promise: restartFailed, reject } = Promise.withResolvers<never>();
    ledger.beforeAnswer((text) => {
      if (!KILLED_IN.includes(text) || ledger.count(text) > 1) return;
      kills += 1;
      server.dev
        .kill()
        .then(() => server.dev.start())
        .catch(reject);
      // The step waits for its answer while it dies.
      return new Promise(() => {});
    });
    const end = ledger.next("end");

    const fifty = createClient<typeof registry>(server.url).fiftySteps.getOrCreate(["kill"], {
      createWithInput: { ledger: ledger.url },
    });
    await fifty.resolve();
    // From here on nobody calls the actor: what brings it back is its own alarm. The server's health check is no call.
    await Promise.race([end, restartFailed]);
    expect(kills).toBe(KILLED_IN.length);

    const runs = Object.fromEntries(STEPS.map((number) => [`step-${number}`, ledger.count(`step-${number}`)]));
    const expected = Object.fromEntries(
      STEPS.map((number) => [`step-${number}`, KILLED_IN.includes(`step-${number}`) ? 2 : 1]),
    );
    expect(runs).toEqual(expected);
    expect(
      await eventually(
        () => fifty.getStatus(),
        ({ status }) => status !== "running",
      ),
    ).toMatchObject({ status: "completed", output: "all done" });
    expect(await fifty.getFinished()).toEqual(STEPS);
  }, 180_000);
});
