import type { AnyActorDefinition, WorkflowStepContextOf } from "../../actor/index.js";
import type { StepCall } from "./step-call.js";

/**
 * What stands in the place of a step's callback: a sequence of answers, of which each attempt takes the next one; the last
 * is repeated. All else stays the step's own: retries and their delays, the timeout, the rollback, the commit.
 *
 * A run that a crash cut off before its result was stored runs again with the same answer, except after `hangs()`.
 */
export interface StepDouble<D extends AnyActorDefinition = AnyActorDefinition> {
  /**
   * The next attempt returns a copy of this value.
   *
   * @example
   *     world.step("order", "charge").gives({ id: "ch_1" });
   * @throws {value/not_serializable} when a step could not return it
   * @throws {value/too_large} when it is too large to store
   */
  gives(value: unknown): StepDouble<D>;
  /**
   * The next attempt throws this error; the step is retried as its options say.
   *
   * @example
   *     world.step("order", "charge").fails(new Error("502")).gives({ id: "ch_1" });
   */
  fails(error: unknown): StepDouble<D>;
  /**
   * The next attempt never settles: it ends with the step's timeout, or with its branch or workflow. Time passes meanwhile.
   *
   * @example
   *     world.step("order", "charge").hangs();
   */
  hangs(): StepDouble<D>;
  /**
   * The next attempt runs this function, which gets the step's context.
   *
   * @example
   *     world.step("order", "ship").runs((step) => void (step.state.shipped = true));
   * @throws TypeError when it is not a function
   */
  runs(run: (step: WorkflowStepContextOf<D>) => unknown): StepDouble<D>;
  /**
   * The next attempt runs the step's own callback.
   *
   * @example
   *     world.step("order", "charge").fails(new Error("502")).callsThrough();
   */
  callsThrough(): StepDouble<D>;
  /**
   * It may stay unused: a default of several tests. Without this, a double that has an answer and was never used is an error at
   * the world's end.
   *
   * @example
   *     beforeEach(() => void world.step("order", "charge").gives({ id: "ch_1" }).optional());
   */
  optional(): StepDouble<D>;
  /**
   * All runs of the step in this world so far, replaced or not, in the order in which they began.
   *
   * @example
   *     expect(world.step("order", "charge").calls()).toMatchObject([{ outcome: "rejected" }, { outcome: "fulfilled" }]);
   */
  calls(): StepCall[];
  /**
   * The double of the step's rollback handler.
   *
   * @example
   *     world.step("order", "charge").rollback().fails(new Error("refused"));
   */
  rollback(): StepDouble<D>;
}
