/**
 * Acts of operators. Each is checked, done and committed in one turn, together with its line in the audit, by an activation that
 * serves or by one that has not started (INSPECT-6).
 */
import { ActorError, decodeValue, type InspectQuestion } from "../../protocol/index.js";
import { refuseRollback } from "../activation/workflow-outcome.js";
import type { PartActor } from "../activation/part.js";
import { KEYS } from "../storage/record.js";
import { audited } from "./audit.js";
import { fingerprint } from "./fingerprint.js";

/** What an operator may ask to be done. */
export type Act = Extract<InspectQuestion, { readonly by: string }>;

/** Those that run nothing of the actor. */
type StoredAct = Exclude<Act, { readonly about: "call" | "sql" }>;

const ACTS = new Set([
  "setState",
  "send",
  "deleteMessage",
  "drain",
  "pause",
  "resume",
  "retry",
  "recover",
  "skip",
  "replayFrom",
  "cancel",
  "call",
  "sql",
]);
const ALL = { count: Infinity, notAfter: Infinity, hold: false };

export function isAct(question: InspectQuestion): question is Act {
  return ACTS.has(question.about);
}

/** Carries out an act, and commits it. Nothing is changed when it throws. */
export function carryOut(actor: PartActor, act: StoredAct): object {
  switch (act.about) {
    case "setState":
      return setState(actor, act);
    case "send":
      return send(actor, act);
    case "deleteMessage": {
      const id = Number(act.id);
      const gone = (): ActorError =>
        new ActorError("inspector", "not_found", "The message is not stored, or the workflow has taken it");
      return audited(actor, act, { id: act.id }, () => {
        if (!actor.queue.remove(id)) throw gone();
        return {};
      });
    }
    case "drain":
      return audited(actor, act, { ...(act.queue !== undefined && { queue: act.queue }) }, () => ({
        deleted: drain(actor, act.queue),
      }));
    default:
      return control(actor, act);
  }
}

/** @throws {inspector/state_changed} when it is no longer the state that the operator saw */
function setState(actor: PartActor, act: Extract<Act, { about: "setState" }>): object {
  const view = actor.stateView();
  const next = decodeValue(act.value);
  // What callbacks have changed so far is seen by now, and stays if the edit is refused.
  actor.commitOrThrow();
  const before = actor.read(KEYS.state) ?? new Uint8Array();
  const hash = fingerprint(before);
  if (act.ifMatch !== "*" && act.ifMatch !== hash)
    throw new ActorError("inspector", "state_changed", "The state has changed since you read it: read it again", {
      metadata: { hash },
    });
  audited(actor, act, { from: hash }, () => {
    view.value = next;
    return {};
  });
  return { hash: fingerprint(actor.read(KEYS.state) ?? before) };
}

function send(actor: PartActor, act: Extract<Act, { about: "send" }>): object {
  const bytes = actor.queue.prepare(act.queue, decodeValue(act.value));
  if (bytes instanceof Promise) {
    bytes.catch(() => {});
    throw new ActorError("feature", "unsupported", "The queue's schema is asynchronous: send from an action instead");
  }
  const sent = audited(actor, act, { queue: act.queue }, () => {
    actor.queue.requireRoom([bytes]);
    return actor.stageMessage(act.queue, bytes);
  });
  actor.messagesChanged();
  return { id: String(sent.id), queue: sent.name, createdAt: sent.createdAt };
}

/** Deletes all messages that nobody holds, of one queue or of all. */
function drain({ queue }: PartActor, name: string | undefined): number {
  const filter = { ...ALL, names: name === undefined ? undefined : [name] };
  let deleted = 0;
  for (let taken = queue.take(filter); taken.length > 0; taken = queue.take(filter)) deleted += taken.length;
  return deleted;
}

interface Options {
  readonly by: string;
  readonly dryRun?: boolean;
  readonly rollback?: boolean;
}

/** `c.workflow`, as contexts have it. Each act returns its plan if asked for a dry run. */
interface Control {
  status(): { readonly status: string };
  cancel(options: Options): object | undefined;
  pause(reason: string | undefined, options: Options): void;
  resume(options: Options): object | undefined;
  retry(options: Options): object | undefined;
  skip(entryId: string, value: unknown, options: Options): object | undefined;
  replayFrom(entryId: string | undefined, options: Options): object | undefined;
}

type ControlAct = Exclude<StoredAct, { about: "setState" | "send" | "deleteMessage" | "drain" }>;

/** The most of an operator's name that the workflow keeps. */
const MAX_BY = 200;

function control(actor: PartActor, act: ControlAct): object {
  const workflow = actor.parts.members.get("workflow")?.() as Control;
  if (!actor.record.workflow) throw new ActorError("inspector", "not_found", "The actor has no workflow");
  // Before a start it would do nothing, as in a hook of the start.
  if (act.about === "retry" || act.about === "recover") refuseRollback(actor.record.workflow, "retried");
  if (act.dryRun) return { plan: controlled(workflow, act) ?? null };
  audited(actor, act, detailOf(act), () => controlled(workflow, act));
  return { status: workflow.status().status };
}

function detailOf(act: ControlAct): object {
  if (act.about === "skip" || (act.about === "replayFrom" && act.id !== undefined)) return { entry: act.id };
  if (act.about === "cancel" && act.rollback) return { rollback: true };
  if (act.about === "pause" && act.reason !== undefined) return { reason: act.reason };
  return {};
}

function controlled(workflow: Control, act: ControlAct): object | undefined {
  const options = { by: act.by.slice(0, MAX_BY), ...(act.dryRun && { dryRun: true }) };
  switch (act.about) {
    case "pause":
      workflow.pause(act.reason, options);
      return undefined;
    case "resume":
      return workflow.resume(options);
    case "retry":
    case "recover":
      return workflow.retry(options);
    case "skip":
      return workflow.skip(act.id, decodeValue(act.value), options);
    case "cancel":
      return workflow.cancel({ ...options, rollback: act.rollback === true });
    default:
      return workflow.replayFrom(act.id, options);
  }
}
