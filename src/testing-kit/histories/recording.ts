import { recordHistory, type RecordedHistory } from "../../actor/index.js";
import { readOptions } from "../../protocol/index.js";
import type { ActorTarget } from "../world/actor-of.js";
import type { WorldHost } from "../world/world-host.js";
import { writeHistory } from "./history-files.js";
import { redactHistory, type Redact } from "./redact.js";

export interface RecordOptions {
  /** The path of a file to write it to. */
  readonly file?: string;
  /** Replaces values: all of them, or those for which the function returns another. */
  readonly redact?: Redact;
}

export interface Recording {
  /**
   * The history of an actor's workflow as it stands, as JSON, for `replayHistories`.
   *
   * @example
   *     await world.record(order, { file: "test/histories/paid.json" });
   * @throws {TypeError} when it has no workflow, or an option is not valid
   */
  record(actor: ActorTarget, options?: RecordOptions): Promise<RecordedHistory>;
}

export function recordingOf(host: WorldHost): Recording {
  return {
    record: async (actor, given) => {
      host.checkOpen("record");
      const fail = (problem: string): TypeError => new TypeError(problem);
      const { file, redact } = readOptions<RecordOptions>("world.record()", given, ["file", "redact"], fail);
      if (file !== undefined && typeof file !== "string") throw fail("world.record(): file must be a path");
      if (redact !== undefined && redact !== true && typeof redact !== "function")
        throw fail("world.record(): redact must be true or a function");
      const { store } = host.actorOf(actor);
      await store.outputGate();
      const whole = recordHistory(store.dump(), host.world.clock.now());
      const history = redact ? redactHistory(whole, redact) : whole;
      if (file !== undefined) await writeHistory(file, history);
      return history;
    },
  };
}
