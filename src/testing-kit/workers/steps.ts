import type { ActorPorts, StepAttempt } from "../../actor/index.js";
import { testAccess } from "../../durable-object/index.js";
import type { StepDouble } from "../doubles/step-double.js";
import { StepDoubles } from "../doubles/step-doubles.js";
import type { StepPath } from "../doubles/step-path.js";
import { toldCommits } from "./told-commits.js";

const newDoubles = (): StepDoubles => new StepDoubles(() => testAccess.registry?.actorNames ?? []);

let doubles = newDoubles();
/** The actor of each object whose steps have run. */
const actors = new Map<string, Pick<StepAttempt, "name" | "key">>();

/**
 * The double of a step of an actor's workflow: what its attempts do instead of running the step's callback. A name means the
 * step wherever it stands; a path is its whole location, in which `"*"` stands for any one segment.
 *
 * @example
 *     step("order", "charge").fails(new Error("502")).gives({ id: "ch_1" });
 * @throws TypeError when the registry of the Worker has no such actor, or the step is given by neither a name nor a path
 */
export function step(actor: string, path: StepPath): StepDouble {
  return doubles.of(actor, path);
}

/**
 * Ends all doubles of steps, and forgets what ran. Call it after each test: a double that has an answer and was never used is an
 * error, which names the steps that ran.
 *
 * @example
 *     afterEach(endSteps);
 * @throws Error when a double was never used
 */
export function endSteps(): void {
  const ended = doubles;
  doubles = newDoubles();
  ended.checkUsed();
}

/** Whether attempts of an object hang, and no other run. */
export function hangs(objectId: string): boolean {
  const actor = actors.get(objectId);
  return actor !== undefined && doubles.calls.hangs(actor);
}

/**
 * What the platform does for an object that starts, with the doubles; its process before this one has ended. `began` is told of
 * each attempt.
 */
export function withDoubles(ports: ActorPorts, began: () => void): ActorPorts {
  const { objectId } = ports;
  const before = actors.get(objectId);
  if (before) doubles.calls.ended(before);
  return {
    ...ports,
    interceptAttempt: (attempt) => {
      actors.set(objectId, { name: attempt.name, key: attempt.key });
      try {
        return doubles.run(attempt);
      } finally {
        began();
      }
    },
    store: toldCommits(ports.store, ({ puts }) => {
      const actor = actors.get(objectId);
      if (actor) doubles.calls.stored(actor, puts);
    }),
  };
}
