import { KEYS, type ActorDefinitions } from "../../actor/index.js";
import type { WorldHost } from "../world/world-host.js";
import type { StepDouble } from "./step-double.js";
import { StepDoubles } from "./step-doubles.js";
import type { StepPath } from "./step-path.js";

export interface Doubles<D extends ActorDefinitions> {
  /**
   * The double of a step of an actor's workflow: what its attempts do instead of running the step's callback. A name means
   * the step wherever it stands; a path is its whole location, in which `"*"` stands for any one segment.
   *
   * A double that has an answer and was never used is an error at the world's end, unless it is `optional()`.
   *
   * @example
   *     world.step("order", "charge").fails(new Error("502")).fails(new Error("502")).gives({ id: "ch_1" });
   *     world.step("order", ["poll", "*", "check"]).gives("pending").gives("done");
   * @throws TypeError when the registry has no such actor, or the step is given by neither a name nor a path
   */
  step<N extends keyof D & string>(actor: N, step: StepPath): StepDouble<D[N]>;
}

export function doublesOf(host: WorldHost): Doubles<ActorDefinitions> {
  const doubles = new StepDoubles(() => host.world.registry.actorNames);
  host.hooks.interceptAttempt = (attempt, track) => doubles.run(attempt, track);
  host.hooks.onDurable = (object, rows) => {
    if (rows.has(KEYS.actor)) doubles.calls.stored(object, rows);
    else doubles.calls.destroyed(object);
  };
  host.hooks.onLeft = (object) => doubles.calls.ended(object);
  host.onEnd(() => doubles.checkUsed());
  return {
    step: (actor, step) => {
      host.checkOpen("step");
      return doubles.of(actor, step);
    },
  };
}
