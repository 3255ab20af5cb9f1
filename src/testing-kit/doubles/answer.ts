import type { StepAttempt } from "../../actor/index.js";
import { decodeValue, encodeValue } from "../../protocol/index.js";

/** What happens in one attempt in place of the step's callback. */
export interface Answer {
  /** Whether code runs in it, for which the clock must wait. */
  readonly isCode: boolean;
  /** Whether a run that was cut off is followed by the same again: it may have had its effect. */
  readonly isRepeated: boolean;
  readonly run: (attempt: StepAttempt) => unknown;
}

/** @throws {value/not_serializable} @throws {value/too_large} when a step could not return the value */
export function giving(value: unknown): Answer {
  const bytes = encodeValue(value);
  return { isCode: false, isRepeated: true, run: async () => decodeValue(bytes) };
}

export function failing(error: unknown): Answer {
  return {
    isCode: false,
    isRepeated: true,
    run: async () => {
      throw error;
    },
  };
}

/** The engine ends the attempt by its timeout, or with its scope. */
export const HANGING: Answer = {
  isCode: false,
  isRepeated: false,
  run: () => new Promise<never>(() => {}),
};

/** @throws TypeError when `run` is not a function */
export function running(run: (step: never) => unknown): Answer {
  if (typeof run !== "function") throw new TypeError("runs() takes a function");
  return { isCode: true, isRepeated: true, run: ({ context }) => run(context as never) };
}

export const CALLING_THROUGH: Answer = { isCode: true, isRepeated: true, run: (attempt) => attempt.run() };
