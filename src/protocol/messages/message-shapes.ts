import { malformed } from "../errors/malformed.js";
import type { ErrorActor, ErrorData } from "../errors/errors.js";
import type {
  ActionRequest,
  ActionResponse,
  QueueSendRequest,
  QueueSendResponse,
  ResolveResponse,
  ToClient,
  ToClientError,
  ToServer,
} from "./messages.js";

// JSON and CBOR decode to any value: each function here validates one as a message, or throws `encoding/invalid`.
// Properties that are null count as absent, and unknown ones are ignored: a newer client may send more.

type Fields = Readonly<Record<string, unknown>>;

export function asActionRequest(value: unknown): ActionRequest {
  return { args: listOf(fieldsOf(value), "args") };
}

export function asActionResponse(value: unknown): ActionResponse {
  return { output: fieldsOf(value)["output"] };
}

export function asQueueSendRequest(value: unknown): QueueSendRequest {
  const fields = fieldsOf(value);
  const { name, wait, timeout } = fields;
  const request: QueueSendRequest = { body: fields["body"] };
  if (isPresent(name)) request.name = textOf(fields, "name");
  if (isPresent(wait)) request.wait = flagOf(fields, "wait");
  if (isPresent(timeout)) request.timeout = durationOf(fields, "timeout");
  return request;
}

export function asQueueSendResponse(value: unknown): QueueSendResponse {
  const fields = fieldsOf(value);
  const { response } = fields;
  return { status: asQueueStatus(fields["status"]), ...(response === undefined ? {} : { response }) };
}

export function asQueueStatus(status: unknown): QueueSendResponse["status"] {
  if (status !== "completed" && status !== "timedOut")
    throw malformed('"status" is neither "completed" nor "timedOut"');
  return status;
}

export function asResolveResponse(value: unknown): ResolveResponse {
  return { actorId: textOf(fieldsOf(value), "actorId") };
}

export function asErrorData(value: unknown): ErrorData {
  const fields = fieldsOf(value);
  const { metadata, actor } = fields;
  const data: ErrorData = {
    group: textOf(fields, "group"),
    code: textOf(fields, "code"),
    message: textOf(fields, "message"),
  };
  if (isPresent(metadata)) data.metadata = metadata;
  if (isPresent(actor)) data.actor = asErrorActor(actor);
  return data;
}

export function asToServer(value: unknown): ToServer {
  const { tag, val } = bodyOf(value);
  if (tag === "ActionRequest")
    return { tag, val: { id: idOf(val, "id"), name: textOf(val, "name"), args: listOf(val, "args") } };
  if (tag === "SubscriptionRequest")
    return { tag, val: { eventName: textOf(val, "eventName"), subscribe: flagOf(val, "subscribe") } };
  throw malformed("a message with an unknown tag");
}

export function asToClient(value: unknown): ToClient {
  const { tag, val } = bodyOf(value);
  switch (tag) {
    case "Init":
      return { tag, val: { actorId: textOf(val, "actorId"), connectionId: textOf(val, "connectionId") } };
    case "Error":
      return { tag, val: asToClientError(val) };
    case "ActionResponse":
      return { tag, val: { id: idOf(val, "id"), output: val["output"] } };
    case "Event":
      return { tag, val: { name: textOf(val, "name"), args: listOf(val, "args") } };
    default:
      throw malformed("a message with an unknown tag");
  }
}

function asToClientError(val: Fields): ToClientError {
  return { ...asErrorData(val), actionId: isPresent(val["actionId"]) ? idOf(val, "actionId") : null };
}

function asErrorActor(value: unknown): ErrorActor {
  const fields = fieldsOf(value);
  const generation = Number(fields["generation"]);
  if (!Number.isFinite(generation)) throw malformed('"generation" is not a number');
  const actor: ErrorActor = { actorId: textOf(fields, "actorId"), generation };
  if (isPresent(fields["key"])) actor.key = textOf(fields, "key");
  return actor;
}

function bodyOf(value: unknown): { tag: unknown; val: Fields } {
  const { tag, val } = fieldsOf(fieldsOf(value)["body"]);
  return { tag, val: fieldsOf(val) };
}

/** The own fields of a plain object: a message without a `name` must not inherit one. */
function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null)
    throw malformed("a value that is not an object where one is required");
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return value as Fields;
  if (prototype !== Object.prototype) throw malformed("a value that is not an object where one is required");
  return Object.assign(Object.create(null), value) as Fields;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw malformed(`"${name}" is not a string`);
  return value;
}

function flagOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== "boolean") throw malformed(`"${name}" is neither true nor false`);
  return value;
}

function durationOf(fields: Fields, name: string): number {
  const value = typeof fields[name] === "bigint" ? Number(fields[name]) : fields[name];
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
    throw malformed(`"${name}" is not a number of ms`);
  return value;
}

function listOf(fields: Fields, name: string): unknown[] {
  const value = fields[name];
  if (!isPresent(value)) return [];
  if (!Array.isArray(value)) throw malformed(`"${name}" is not an array`);
  return value as unknown[];
}

/** Clients send ids as bigints; people who type JSON write a number. */
function idOf(fields: Fields, name: string): bigint {
  const value = fields[name];
  const id = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof id !== "bigint" || id < 0n || id > 0xffff_ffff_ffff_ffffn)
    throw malformed(`"${name}" is not an unsigned integer`);
  return id;
}
