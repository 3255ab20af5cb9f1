import { actor, setup, type AnyActorDefinition } from "../../src/actor/index.js";
import { decodeValue } from "../../src/protocol/index.js";
import type { World, WorldActor, WorldOptions } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

/** A world with one actor in it, under the name `subject`, and its log. */
export interface Single {
  readonly world: World;
  readonly subject: WorldActor;
  readonly log: { level: string; entry: Record<string, unknown> }[];
}

export function single(
  definition: AnyActorDefinition,
  options: Partial<WorldOptions> = {},
  key: readonly string[] = ["k"],
): Single {
  const log: Single["log"] = [];
  const world = testWorld(setup({ use: { subject: definition } }), {
    onLog: (level, entry) => log.push({ level, entry: entry as Record<string, unknown> }),
    ...options,
  });
  return { world, subject: world.actor("subject", key), log };
}

/** An actor with a state, and callbacks that a test writes where it needs them. */
export class StateSubject<S> {
  readonly single: Single;
  #edit: (c: { state: S }) => unknown = () => {};

  constructor(state: S, options: Partial<WorldOptions> = {}) {
    this.single = single(
      actor({
        createState: () => state as unknown,
        actions: { edit: (c) => this.#edit(c as unknown as { state: S }), get: (c) => c.state },
      }),
      options,
    );
  }

  /** Runs `body` as an action of the actor; gives the action's result, as its caller gets it. */
  async edit(body: (c: { state: S }) => unknown): Promise<unknown> {
    this.#edit = body;
    return this.single.subject.call("edit");
  }

  /** What is stored. */
  stored(): S {
    const bytes = this.single.subject.store.dump().get("s");
    return (bytes && decodeValue(bytes)) as S;
  }

  /** What a caller sees after the object has started anew. */
  async restarted(): Promise<S> {
    this.single.subject.crash();
    return (await this.single.subject.call("get")) as S;
  }
}
