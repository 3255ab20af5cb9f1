import {
  decodeArguments,
  decodeValue,
  encodeAnswer,
  encodeValue,
  formatActionCall,
  fromErrorData,
  MAX_UNCHECKED_BYTES,
  type Frame,
  type OutsideAction,
} from "../../protocol/index.js";
import { checkedReply, platformErrorOf, type CallActor } from "./call-actor.js";
import type { ActorNamespace } from "./object-namespace.js";
import { resolveStub, type ActorTarget, type ResolvedTarget } from "./resolve-stub.js";

/** The result, in the caller's encoding. */
export interface ActionAnswer {
  readonly actorId: string;
  readonly answer: Frame;
}

/**
 * Calls an action with its caller's own message.
 *
 * @throws {encoding/invalid} when the message cannot be decoded
 * @throws {actor/invalid_request} when it is JSON of another shape
 * @throws the errors of `CallActor`
 */
export type CallAction = (action: OutsideAction & { readonly target: ActorTarget }) => Promise<ActionAnswer>;

/** The first version of an object that reads an `ActionCall`. */
const READS_MESSAGES = 2;

/** Older objects that are remembered; beyond this all are forgotten, which costs each one call that it refuses. */
const MAX_OLDER = 1000;

/** Calls actions of the objects of one namespace. */
export function createActionCaller(
  objects: ActorNamespace,
  actorNames: ReadonlySet<string>,
  callActor: CallActor,
): CallAction {
  /** Objects whose last answer was that of an older release. */
  const older = new Set<string>();
  return async (action) => {
    const resolved = resolveStub(objects, action.target, actorNames);
    // Those of a larger message are sent in an envelope, where they are checked.
    if (!older.has(resolved.object) && action.message.body.byteLength <= MAX_UNCHECKED_BYTES) {
      const answer = await handThrough(action, resolved);
      if (answer !== undefined) return answer;
      if (older.size >= MAX_OLDER) older.clear();
      older.add(resolved.object);
    }
    const { v, ...answer } = await inEnvelope(action, callActor);
    if (v >= READS_MESSAGES) older.delete(resolved.object);
    return answer;
  };
}

/** Undefined: the object is of an older release, and has done nothing. */
async function handThrough(
  action: OutsideAction,
  { address, creation, openStub }: ResolvedTarget,
): Promise<ActionAnswer | undefined> {
  const call = formatActionCall({ address, creation }, action);
  const reply = checkedReply(
    await openStub()
      .call(call)
      .catch((error: unknown) => {
        throw platformErrorOf(error);
      }),
  );
  if (!reply.ok && reply.v < READS_MESSAGES) return undefined;
  if (!reply.ok) throw fromErrorData(reply.error, reply.status);
  return { actorId: reply.actorId, answer: reply.answer ?? "" };
}

/** The same with values of the storage codec. */
async function inEnvelope(
  { target, name, message, params, request }: Parameters<CallAction>[0],
  callActor: CallActor,
): Promise<ActionAnswer & { readonly v: number }> {
  const { v, actorId, output } = await callActor({
    target,
    operation: { kind: "action", name, args: encodeValue(decodeArguments(message), { what: "the arguments" }) },
    request,
    ...(params !== undefined && { params }),
  });
  return { v, actorId, answer: encodeAnswer(output === undefined ? undefined : decodeValue(output), message) };
}
