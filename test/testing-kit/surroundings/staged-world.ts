import { actor, setup } from "../../../src/entry/index.js";
import { testWorld, type TestWorldOptions, type WorldFetch } from "../../../src/entry/testing.js";

/** A world with one actor, whose action `run` runs what the test sets as `code`. */
export interface StagedWorld extends AsyncDisposable {
  code: () => unknown;
  readonly fetch: WorldFetch;
  /** Runs `code` as the action of the actor. */
  run(): Promise<unknown>;
  crash(): void;
  evict(): Promise<void>;
  end(): Promise<void>;
}

export async function stagedWorld(options: TestWorldOptions = {}): Promise<StagedWorld> {
  const registry = setup({ use: { staged: actor({ actions: { run: (): unknown => staged.code() } }) } });
  const world = await testWorld(registry, options);
  const handle = world.client.staged.getOrCreate(["k"]);
  const staged: StagedWorld = {
    code: () => undefined,
    fetch: world.fetch,
    run: async () => handle.run(),
    crash: () => world.crash(handle),
    evict: async () => world.evict(handle),
    end: () => world.end(),
    [Symbol.asyncDispose]: () => world.end(),
  };
  return staged;
}
