import type { ClientEffects } from "../actor/index.js";
import {
  ActorError,
  decodeValue,
  encodeValue,
  fromErrorData,
  own,
  ownField,
  type Creation,
  type CallOperation,
  type ReplyEnvelope,
} from "../protocol/index.js";
import { whileAlive, whileItLives } from "./while-alive.js";

const UNTOLD: ClientEffects = { send: (work) => work(), call: (_, work) => work() };

/** Brings a call to the actor behind a key. */
type Deliver = (
  name: string,
  key: readonly string[],
  creation: Creation,
  operation: CallOperation,
) => Promise<ReplyEnvelope>;

/**
 * What `c.client()` gives in a world: `get`, `getOrCreate` and `create`, and of their handles actions and `send`,
 * which finds its message again when the other object dies. Values go through the codec, as on the platform. `beforeCall`
 * runs before each call leaves. Once the caller is not alive, no call leaves, and none that has left settles.
 */
export function worldClient(
  deliver: Deliver,
  beforeCall: () => void,
  effects: ClientEffects = UNTOLD,
  isAlive: () => boolean = () => true,
): unknown {
  const before = whileItLives(isAlive, beforeCall);
  return lookup((name) =>
    accessor(
      name,
      async (...call) => {
        before();
        return whileAlive(isAlive, () => deliver(...call));
      },
      effects,
    ),
  );
}

let tokens = 0;

/** 32 hex digits, never the same twice. */
function nextToken(): string {
  tokens += 1;
  return tokens.toString(16).padStart(32, "0");
}

function isBroken(error: unknown): boolean {
  return ActorError.isActorError(error) && error.code === "restarting";
}

/** How long a sender waits in the call of its send, ms. */
const ATTACH_MS = 30_000;

interface Result {
  readonly status: string;
  readonly reply?: Uint8Array;
}

interface Sent {
  readonly id: number;
  readonly createdAt: number;
  readonly waitMs: number;
  readonly result?: Result;
  readonly leftMs?: number;
}

interface SendOptions {
  readonly wait?: boolean;
  readonly timeout?: number;
}

function accessor(name: string, deliver: Deliver, effects: ClientEffects): object {
  const handle = (key: string | readonly string[] = [], creation: Creation): unknown => {
    const call = async (operation: CallOperation, as: Creation = creation): Promise<unknown> => {
      const reply = await deliver(name, typeof key === "string" ? [key] : key, as, operation);
      if (!reply.ok) throw fromErrorData(reply.error, reply.status);
      return reply.output && decodeValue(reply.output);
    };
    /** As a sender does: an object that dies in the middle is asked again. */
    const attached = async <T = Result>(operation: CallOperation, as?: Creation): Promise<T> => {
      for (;;) {
        try {
          return (await call(operation, as)) as T;
        } catch (error) {
          if (!isBroken(error)) throw error;
        }
      }
    };
    /** The message of a send whose call broke, if it was stored. */
    const findSent = async (error: unknown, token: string): Promise<unknown> => {
      if (!isBroken(error)) throw error;
      const found = await attached<Sent | undefined>({ kind: "sent", token }, { mode: "get" }).catch(() => {});
      if (found === undefined) throw error;
      return found;
    };
    const send = async (queue: string, body: unknown, options: SendOptions = {}): Promise<unknown> => {
      const timeoutMs = ownField(options, "timeout");
      const wait = ownField(options, "wait") ?? false;
      const operation = { kind: "send", queue, body: encodeValue(body) } as const;
      const timeout = timeoutMs !== undefined && { timeoutMs };
      if (!wait) return void (await call({ ...operation, ...timeout }));
      const token = nextToken();
      const sent = await call({ ...operation, ...timeout, wait, token, attachMs: ATTACH_MS }).catch((error: unknown) =>
        findSent(error, token),
      );
      const { id: messageId, createdAt, waitMs, result, leftMs = waitMs } = own(sent as Sent);
      const { status, reply } = own(
        result ?? (await attached({ kind: "wait", messageId, createdAt, token, timeoutMs: leftMs })),
      );
      return { status, ...(reply && { response: decodeValue(reply) }) };
    };
    const act = async (action: string, args: unknown[]): Promise<unknown> =>
      call({ kind: "action", name: action, args: encodeValue(args) });
    return lookup((action) => {
      if (action === "send") {
        return (...args: Parameters<typeof send>) =>
          ownField(args[2] ?? {}, "wait")
            ? effects.call(`a waiting send to ${name}`, () => send(...args))
            : effects.send(() => send(...args));
      }
      return (...args: unknown[]) => effects.call(`action ${action} of ${name}`, () => act(action, args));
    });
  };
  type Key = string | readonly string[];
  return {
    get: (key?: Key) => handle(key, { mode: "get" }),
    getOrCreate: (key?: Key, options: { createWithInput?: unknown } = {}) =>
      handle(key, { mode: "getOrCreate", ...inputOf(ownField(options, "createWithInput")) }),
    async create(key: Key = [], options: { input?: unknown } = {}) {
      const reply = await deliver(
        name,
        typeof key === "string" ? [key] : key,
        { mode: "create", ...inputOf(ownField(options, "input")) },
        { kind: "resolve" },
      );
      if (!reply.ok) throw fromErrorData(reply.error, reply.status);
      return handle(key, { mode: "get" });
    },
  };
}

function inputOf(input: unknown): { input?: Uint8Array } {
  return input === undefined ? {} : { input: encodeValue(input) };
}

/** Something for each name, but no `then`: it may be the result of an async function. */
function lookup(find: (name: string) => unknown): unknown {
  return new Proxy({}, { get: (_, name) => (typeof name === "string" && name !== "then" ? find(name) : undefined) });
}
