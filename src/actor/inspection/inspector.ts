/**
 * Answers operators, below the start gate (INSPECT-1): from what is stored, with no user code, no lease, no start, no
 * creation and no commit. So it works for an actor whose hooks fail, whose workflow diverged or whose class is gone.
 */
import { ActorError, encodeJson, own, type ActorAddress, type InspectQuestion } from "../../protocol/index.js";
import type { InspectedObject, ObjectInspector } from "../activation/object-inspector.js";
import type { PartActor } from "../activation/part.js";
import { carryOut, isAct, type Act } from "./act.js";
import { auditOf } from "./audit.js";
import { connectionsOf } from "./connections.js";
import { entryOf, historyOf } from "./history.js";
import { InspectedActor } from "./inspected-actor.js";
import { messageOf, queueOf } from "./messages.js";
import { schedulesOf } from "./schedules.js";
import { stateOf, userValuesOf } from "./stored-values.js";
import { summaryOf } from "./summary.js";
import { rowsOf, schemaOf, tablesOf } from "./tables.js";
import { runsUserCode, runUserCodeFor } from "./user-code.js";
import { Watchers } from "./watchers.js";

/** Makes a history's file from the rows of its actor. It is given, since it belongs to another part. */
type RecordHistory = (rows: Iterable<readonly [key: string, bytes: Uint8Array]>, recordedAt: number) => object;

/** The inspector's side of every object of a Worker. */
export function objectInspector(record: RecordHistory): ObjectInspector {
  return {
    watchers: (ports) => new Watchers(ports),
    async answer(object, address, asked) {
      try {
        const question = own(asked);
        if (isAct(question)) return await done(object, address, question);
        const actor = new InspectedActor(object, address);
        // Tagged JSON as a whole, so that values of every kind are in it. A file is plain JSON already.
        const text =
          question.about === "recorded"
            ? JSON.stringify(recordedOf(actor, record))
            : encodeJson(await answerTo(actor, question), { extended: true });
        return { record: actor.record, answer: new TextEncoder().encode(text) };
      } catch (error) {
        throw told(error);
      }
    },
  };
}

/** Does what an operator asks. */
async function done(object: InspectedObject, address: ActorAddress, act: Act): ReturnType<ObjectInspector["answer"]> {
  const { record, result } = await (runsUserCode(act) ? runUserCodeFor(object, address, act) : change(object, act));
  return { record, answer: new TextEncoder().encode(encodeJson(result, { extended: true })) };
}

function change(object: InspectedObject, act: Parameters<typeof carryOut>[1]): ReturnType<typeof runUserCodeFor> {
  // `onStateChange` hears of an edit made before its start, too.
  const tell = (actor: PartActor): void => {
    if (act.about === "setState") actor.stateChanges.committed();
  };
  return object.operate((actor) => carryOut(actor, act), tell);
}

/** @throws {inspector/not_found} when the actor has no workflow */
function recordedOf({ record, rows, ports }: InspectedActor, recordHistory: RecordHistory): object {
  if (record.workflow) return recordHistory(rows.list(""), ports.now());
  throw new ActorError("inspector", "not_found", "The actor has no workflow, so there is no history to record");
}

function answerTo(actor: InspectedActor, question: InspectQuestion): object | Promise<object> {
  switch (question.about) {
    case "summary":
      return summaryOf(actor);
    case "state":
      return stateOf(actor);
    case "history":
      return historyOf(actor, question);
    case "entry":
      return entryOf(actor, question.id);
    case "queue":
      return queueOf(actor, question);
    case "message":
      return messageOf(actor, question.id);
    case "schedules":
      return schedulesOf(actor);
    case "connections":
      return connectionsOf(actor);
    case "kv":
      return userValuesOf(actor, question);
    case "tables":
      return tablesOf(actor);
    case "schema":
      return schemaOf(actor);
    case "watch":
      return {};
    case "audit":
      return auditOf(actor);
    case "rows":
      return rowsOf(actor, question);
    default:
      throw new ActorError("feature", "unsupported", "This release does not know the inspector's question");
  }
}

/** Operators read what callers may not: which row is damaged, and how. */
function told(error: unknown): unknown {
  if (!ActorError.isActorError(error) || error.public) return error;
  const { group, code, message, metadata, statusCode } = error;
  return new ActorError(group, code, message, { metadata, statusCode, public: true, cause: error });
}
