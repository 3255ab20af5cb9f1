import { BareReader, BareWriter } from "./bare.js";
import type { MessageCodec } from "./codec.js";
import { callerLimits, OWN_LIMITS } from "../limits.js";
import { malformed } from "../errors/malformed.js";
import type { ErrorActor, ErrorData } from "../errors/errors.js";
import { asQueueStatus } from "./message-shapes.js";
import type {
  ActionRequest,
  ActionResponse,
  QueueSendRequest,
  QueueSendResponse,
  ResolveResponse,
  ToClient,
  ToServer,
} from "./messages.js";
import { decodeTaggedCbor, encodeTaggedCbor, type WireOptions } from "../codecs/wire-cbor.js";
import { own } from "../own.js";

/** Arguments come in an array. */
const ARGS_LIMITS = callerLimits(1);

function struct<T>(
  write: (out: BareWriter, message: T, options: WireOptions) => void,
  read: (source: BareReader) => T,
): MessageCodec<T> {
  return {
    encode(message, options = {}) {
      const out = new BareWriter();
      write(out, message, options);
      return out.finish();
    },
    decode(bytes) {
      const source = new BareReader(bytes);
      const message = read(source);
      source.end();
      return message;
    },
  };
}

export const bareActionRequest = struct<ActionRequest>(
  (out, { args }, options) => out.data(encodeTaggedCbor(args, options)),
  (source) => ({ args: readArgs(source, ARGS_LIMITS) }),
);

export const bareActionResponse = struct<ActionResponse>(
  (out, { output }, options) => out.data(encodeTaggedCbor(output, options)),
  (source) => ({ output: decodeTaggedCbor(source.data()) }),
);

export const bareQueueSendRequest = struct<QueueSendRequest>(
  (out, request, options) => {
    const { body, name, wait, timeout } = own(request);
    out.data(encodeTaggedCbor(body, options));
    out.optional(name, (text) => out.str(text));
    out.optional(wait, (flag) => out.bool(flag));
    out.optional(timeout, (milliseconds) => out.u64(Math.floor(milliseconds)));
  },
  (source) => {
    const request: QueueSendRequest = { body: decodeTaggedCbor(source.data(), callerLimits(0)) };
    const name = source.optional(() => source.str());
    const wait = source.optional(() => source.bool());
    const timeout = source.optional(() => source.u64());
    if (name !== undefined) request.name = name;
    if (wait !== undefined) request.wait = wait;
    if (timeout !== undefined) request.timeout = Number(timeout);
    return request;
  },
);

export const bareQueueSendResponse = struct<QueueSendResponse>(
  (out, answer, options) => {
    const { status, response } = own(answer);
    out.str(status);
    out.optional(response, (value) => out.data(encodeTaggedCbor(value, options)));
  },
  (source) => {
    const status = asQueueStatus(source.str());
    const response = source.optional(() => decodeTaggedCbor(source.data()));
    return { status, ...(response === undefined ? {} : { response }) };
  },
);

export const bareResolveResponse = struct<ResolveResponse>(
  (out, { actorId }) => out.str(actorId),
  (source) => ({ actorId: source.str() }),
);

export const bareError = struct<ErrorData>(
  (out, data, options) => {
    writeErrorText(out, data, options);
    out.optional(data.actor, (actor) => writeActor(out, actor));
  },
  (source) => withActor(source, readErrorText(source)),
);

export const bareToServer = struct<ToServer>(
  (out, message, options) => {
    if (message.tag === "ActionRequest") {
      out.uint(0);
      out.uint(message.val.id);
      out.str(message.val.name);
      out.data(encodeTaggedCbor(message.val.args, options));
    } else {
      out.uint(1);
      out.str(message.val.eventName);
      out.bool(message.val.subscribe);
    }
  },
  (source) => {
    const tag = source.uint();
    if (tag === 0n)
      return {
        tag: "ActionRequest",
        val: { id: source.uint(), name: source.str(), args: readArgs(source, ARGS_LIMITS) },
      };
    if (tag === 1n) return { tag: "SubscriptionRequest", val: { eventName: source.str(), subscribe: source.bool() } };
    throw malformed("a message with an unknown tag");
  },
);

export const bareToClient = struct<ToClient>(writeToClient, readToClient);

function writeToClient(out: BareWriter, message: ToClient, options: WireOptions): void {
  switch (message.tag) {
    case "Init":
      out.uint(0);
      out.str(message.val.actorId);
      out.str(message.val.connectionId);
      return;
    case "Error":
      out.uint(1);
      writeErrorText(out, message.val, options);
      out.optional(message.val.actionId ?? undefined, (id) => out.uint(id));
      out.optional(message.val.actor, (actor) => writeActor(out, actor));
      return;
    case "ActionResponse":
      out.uint(2);
      out.uint(message.val.id);
      out.data(encodeTaggedCbor(message.val.output, options));
      return;
    case "Event":
      out.uint(3);
      out.str(message.val.name);
      out.data(encodeTaggedCbor(message.val.args, options));
  }
}

function readToClient(source: BareReader): ToClient {
  switch (source.uint()) {
    case 0n:
      return { tag: "Init", val: { actorId: source.str(), connectionId: source.str() } };
    case 1n: {
      const data = readErrorText(source);
      const actionId = source.optional(() => source.uint()) ?? null;
      return { tag: "Error", val: { ...withActor(source, data), actionId } };
    }
    case 2n:
      return { tag: "ActionResponse", val: { id: source.uint(), output: decodeTaggedCbor(source.data()) } };
    case 3n:
      return { tag: "Event", val: { name: source.str(), args: readArgs(source) } };
    default:
      throw malformed("a message with an unknown tag");
  }
}

function writeErrorText(out: BareWriter, { group, code, message, metadata }: ErrorData, options: WireOptions): void {
  out.str(group);
  out.str(code);
  out.str(message);
  out.optional(metadata, (value) => out.data(encodeTaggedCbor(value, options)));
}

function readErrorText(source: BareReader): ErrorData {
  const data: ErrorData = { group: source.str(), code: source.str(), message: source.str() };
  const metadata = source.optional(() => decodeTaggedCbor(source.data()));
  if (metadata !== undefined && metadata !== null) data.metadata = metadata;
  return data;
}

function writeActor(out: BareWriter, { actorId, generation, key }: ErrorActor): void {
  out.str(actorId);
  out.uint(generation);
  out.optional(key, (text) => out.str(text));
}

function withActor(source: BareReader, data: ErrorData): ErrorData {
  const actor = source.optional((): ErrorActor => {
    const specifier: ErrorActor = { actorId: source.str(), generation: Number(source.uint()) };
    const key = source.optional(() => source.str());
    return key === undefined ? specifier : { ...specifier, key };
  });
  return actor === undefined ? data : { ...data, actor };
}

function readArgs(source: BareReader, limits = OWN_LIMITS): unknown[] {
  const args = decodeTaggedCbor(source.data(), limits);
  if (args === undefined || args === null) return [];
  if (!Array.isArray(args)) throw malformed("the arguments are not an array");
  return args as unknown[];
}
