import type { WorldActor } from "../../../src/testing/index.js";
import { actor, setup } from "../../../src/entry/index.js";
import type { TestWorldOptions, WorldFetch } from "../../../src/entry/testing.js";
import { clientsOf, surroundingsOf, WorldHost } from "../../../src/testing-kit/internal.js";

/** A world with one actor, whose action `run` runs what the test sets as `code`. */
export interface StagedWorld extends AsyncDisposable {
  code: () => unknown;
  readonly fetch: WorldFetch;
  /** Runs `code` as the action of the actor. */
  run(): Promise<unknown>;
  readonly actor: WorldActor;
  end(): Promise<void>;
}

export async function stagedWorld(options: TestWorldOptions = {}): Promise<StagedWorld> {
  const registry = setup({ use: { staged: actor({ actions: { run: () => staged.code() } }) } });
  const host = await WorldHost.start(registry as never, options);
  const { fetch } = surroundingsOf(host);
  const handle = clientsOf(host).client["staged"]?.getOrCreate(["k"]) as unknown as { run(): Promise<unknown> };
  const staged: StagedWorld = {
    code: () => undefined,
    fetch,
    run: () => handle.run(),
    actor: host.actorOf(handle as never),
    end: () => host.end(),
    [Symbol.asyncDispose]: () => host.end(),
  };
  return staged;
}
