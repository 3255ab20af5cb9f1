import { DurableObject } from "cloudflare:workers";
import {
  ObjectEvents,
  type ActorPorts,
  type ClientEffects,
  type Logger,
  type ObjectInspector,
  type Registry,
} from "../actor/index.js";
import type { ActionCall, CallEnvelope, CallLink, ReplyEnvelope } from "../protocol/index.js";
import { HibernatingSocket } from "./hibernating-socket.js";
import { KeyValueStore } from "./key-value-store.js";
import { ObjectTimer } from "./object-timer.js";
import { serveRawRequest } from "./raw-request.js";
import { isReplySocket, replyTag } from "./reply-socket.js";
import { testAccess } from "./test-access.js";
import { acceptUpgrade, answerPings, isAnsweredPing } from "./upgrade.js";

/** Options that the composition root sets for all objects of a Worker. */
export interface ActorObjectOptions<Env> {
  readonly registry: Registry;
  /** Makes a logger that adds these fields to every entry. */
  readonly createLog: (fields: Readonly<Record<string, unknown>>) => Logger;
  /** Makes a client of the same registry over the binding in `env`; `beforeCall` runs before each call leaves. */
  readonly createClient: (
    env: Env,
    beforeCall: () => void,
    ends: readonly AbortSignal[],
    effects?: ClientEffects,
    chain?: () => readonly CallLink[],
  ) => unknown;
  /** Shows actors to operators. */
  readonly inspector?: ObjectInspector | undefined;
  /** See `ActorPorts.evictAtPark`. */
  readonly evictAtPark: boolean;
}

/** The Durable Object class a Worker exports: each instance is one actor. A thin shell around the pure `ObjectEvents`. */
export type ActorObjectClass<Env> = new (
  ctx: DurableObjectState,
  env: Env,
) => DurableObject<Env> & {
  call(sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope>;
};

export function createActorObject<Env>(options: ActorObjectOptions<Env>): ActorObjectClass<Env> {
  testAccess.registry = options.registry;
  return class ActorObject extends DurableObject<Env> {
    readonly #events: ObjectEvents;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      const { storage } = ctx;
      requireSqlite(storage);
      const ports: ActorPorts = {
        store: new KeyValueStore(storage, (error) => ctx.abort(`perdure: an alarm could not be set: ${String(error)}`)),
        log: options.createLog({ object: ctx.id.toString() }),
        now: () => Date.now(),
        createTimer: () => new ObjectTimer(),
        yield: () => scheduler.wait(0),
        randomHex,
        objectId: ctx.id.toString(),
        region: "default",
        env,
        abort: (reason) => ctx.abort(reason),
        waitUntil: (promise) => ctx.waitUntil(promise),
        sockets: () =>
          ctx
            .getWebSockets()
            .filter((socket) => !isReplySocket(ctx, socket))
            .map((socket) => HibernatingSocket.of(ctx, socket)),
        replySockets: (token) => ctx.getWebSockets(replyTag(token)).map((socket) => HibernatingSocket.of(ctx, socket)),
        createClient: (beforeCall, ends, effects, chain) => options.createClient(env, beforeCall, ends, effects, chain),
        evictAtPark: options.evictAtPark,
      };
      this.#events = new ObjectEvents(options.registry, testAccess.alterPorts?.(ports) ?? ports, options.inspector);
      answerPings(ctx);
    }

    call(sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope> {
      return this.#events.call(sent);
    }

    override async fetch(request: Request): Promise<Response> {
      return request.headers.get("upgrade") === "websocket"
        ? acceptUpgrade(request, this.ctx, this.#events)
        : serveRawRequest(request, this.#events);
    }

    override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
      if (isReplySocket(this.ctx, socket) || isAnsweredPing(this.ctx, socket, message)) return;
      return this.#events.socketMessage(
        HibernatingSocket.of(this.ctx, socket),
        typeof message === "string" ? message : new Uint8Array(message),
      );
    }

    override async webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
      const ended = HibernatingSocket.of(this.ctx, socket);
      // The platform does not answer a close by itself; the client would see 1006 after ten seconds.
      ended.close(code, reason);
      // The end of a sender's wait starts no actor.
      if (isReplySocket(this.ctx, socket)) return;
      return this.#events.socketClosed(ended, { code, reason });
    }

    override async webSocketError(socket: WebSocket): Promise<void> {
      if (isReplySocket(this.ctx, socket)) return;
      return this.#events.socketClosed(HibernatingSocket.of(this.ctx, socket), {
        code: 1006,
        reason: "The connection was lost",
      });
    }

    override alarm(info?: AlarmInvocationInfo): Promise<void> {
      return this.#events.alarm({ scheduledAt: info?.scheduledTime ?? null, isRetry: info?.isRetry ?? true });
    }
  };
}

function requireSqlite(storage: DurableObjectStorage): void {
  if ((storage as { kv?: unknown }).kv !== undefined) return;
  throw new Error(
    "perdure: ActorObject needs SQLite-backed storage. Declare it in wrangler.toml as [[migrations]] tag = " +
      '"v1", new_sqlite_classes = ["ActorObject"]',
  );
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function randomHex(bytes: number): string {
  let hex = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) hex += HEX[byte];
  return hex;
}
