import {
  decodeArguments,
  decodeValue,
  encodeAnswer,
  encodeValue,
  ENVELOPE_VERSION,
  readActionCall,
  toErrorData,
  type ActionCall,
  type CallEnvelope,
  type ReplyEnvelope,
} from "../../src/protocol/index.js";
import type { ActorNamespace, ActorStub, ObjectId } from "../../src/router/index.js";

export interface SeenCall {
  readonly object: string;
  readonly envelope: CallEnvelope;
  readonly locationHint: string | undefined;
  readonly stub: number;
}

export type Answer = (envelope: CallEnvelope, object: string) => ReplyEnvelope | Promise<ReplyEnvelope>;

export const GENERATION = "00112233445566aa";

/** A namespace without a platform: one record of every call, and an answer the test chooses. Envelopes are copied, as RPC does. */
export class FakeObjects implements ActorNamespace {
  readonly calls: SeenCall[] = [];
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #stubs = 0;
  answer: Answer;

  constructor(answer: Answer = echo) {
    this.answer = answer;
  }

  idFromName(name: string): ObjectId {
    const id = this.idOf(name);
    return { toString: () => id };
  }

  idFromString(id: string): ObjectId {
    const name = this.#names.get(id);
    if (name === undefined) throw new TypeError("Invalid Durable Object ID");
    return this.idFromName(name);
  }

  get(id: ObjectId, options?: { readonly locationHint?: string }): ActorStub {
    const stub = ++this.#stubs;
    const object = this.#names.get(id.toString()) ?? "";
    return {
      call: async (sent) => {
        const copy = structuredClone(sent);
        const seen = (envelope: CallEnvelope): ReplyEnvelope | Promise<ReplyEnvelope> => {
          this.calls.push({ object, envelope, locationHint: options?.locationHint, stub });
          return this.answer(envelope, object);
        };
        return structuredClone(
          await (Array.isArray(copy) ? asObjectDoes(copy as ActionCall, seen) : seen(copy as CallEnvelope)),
        );
      },
      fetch: async () => Promise.reject(new Error("These objects take no requests")),
    };
  }

  /** 64 hex digits for an object's name. */
  idOf(name: string): string {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = (this.#ids.size + 1).toString(16).padStart(64, "0");
    this.#ids.set(name, id);
    this.#names.set(id, name);
    return id;
  }

  get last(): SeenCall {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error("No object was called.");
    return call;
  }

  /** The arguments of the last action call. */
  get lastArgs(): unknown {
    const { operation } = this.last.envelope;
    if (operation.kind !== "action") throw new Error("The last call was no action.");
    return decodeValue(operation.args);
  }
}

/** Answers a caller's own message, as an object does, by what answers an envelope. */
async function asObjectDoes(
  call: ActionCall,
  answer: (envelope: CallEnvelope) => ReplyEnvelope | Promise<ReplyEnvelope>,
): Promise<ReplyEnvelope> {
  const { envelope, name, message } = readActionCall(call);
  let args: Uint8Array;
  try {
    args = encodeValue(decodeArguments(message));
  } catch (error) {
    const { data, status } = toErrorData(error);
    return { v: ENVELOPE_VERSION, ok: false, error: data, status };
  }
  const reply = await answer({ ...envelope, operation: { kind: "action", name, args } });
  if (!reply?.ok) return reply;
  const { output, ...rest } = reply;
  return { ...rest, answer: encodeAnswer(output && decodeValue(output), message) };
}

/** Succeeds with this output. */
export function succeed(output?: unknown, more: Partial<Extract<ReplyEnvelope, { ok: true }>> = {}): ReplyEnvelope {
  return {
    v: ENVELOPE_VERSION,
    ok: true,
    actorId: `${"a".repeat(64)}-${GENERATION}`,
    created: false,
    createdAt: 1,
    output: encodeValue(output),
    ...more,
  };
}

/** Fails with this error. */
export function fail(group: string, code: string, status: number, metadata?: unknown): ReplyEnvelope {
  return {
    v: ENVELOPE_VERSION,
    ok: false,
    status,
    error: { group, code, message: `it is ${code}`, ...(metadata !== undefined && { metadata }) },
  };
}

/** Gives the arguments back. */
export const echo: Answer = ({ operation }) =>
  succeed(operation.kind === "action" ? decodeValue(operation.args) : undefined);
