import { DurableObject } from "cloudflare:workers";
import { createHandler, type ActorHandler, type HandlerOptions } from "../../src/entry/cloudflare.js";
import type { Registry } from "../../src/entry/index.js";
import type { CallEnvelope, ReplyEnvelope } from "../../src/protocol/index.js";
import { registry } from "./actors.js";

/** The Worker of the workerd test project. Tests share isolate and modules with it. */
let handler = handlerOf(registry);

/** From now on new objects, and requests, see this registry instead of the fixture actors. */
export function serve(served: Registry<never> | Registry, options: HandlerOptions<unknown> = {}): void {
  handler = handlerOf(served, options);
}

function handlerOf(
  served: Registry<never> | Registry,
  options: HandlerOptions<unknown> = {},
): ActorHandler<never, unknown> {
  return createHandler(served as Registry<never>, { logLevel: "silent", ...options });
}

/** What tests see of the newest instance of each object, by object id. */
export interface LiveObject {
  readonly ctx: DurableObjectState;
  /** Writes of the alarm by this instance, setting and deleting. */
  alarmWrites: number;
}
export const liveObjects = new Map<string, LiveObject>();

/** Ways in for a test, inside the object and at that moment. */
export const probes: {
  /** A commit was made; it is durable when this turn ends. */
  committed?: ((objectId: string) => void) | undefined;
  /** The time for which the alarm was set that a test runs by hand. */
  alarmAt?: number | undefined;
  /** The platform runs an alarm. */
  alarmed?: ((objectId: string, info: AlarmInvocationInfo | undefined) => void) | undefined;
  /** A call has arrived; it waits for what is given back. */
  called?: ((objectId: string, envelope: CallEnvelope) => Promise<void> | undefined) | undefined;
} = {};

/** The object class, with a way in for tests. Its objects never know their name, which the platform gives only mostly. */
export class ActorObject extends DurableObject {
  readonly #actor: InstanceType<ActorHandler<never, unknown>["ActorObject"]>;

  constructor(ctx: DurableObjectState, env: never) {
    super(ctx, env);
    Object.defineProperty(ctx.id, "name", { value: undefined });
    liveObjects.set(ctx.id.toString(), countAlarmWrites(ctx));
    tellCommits(ctx);
    this.#actor = new handler.ActorObject(ctx, env);
  }

  call(envelope: CallEnvelope): Promise<ReplyEnvelope> {
    const before = probes.called?.(this.ctx.id.toString(), envelope);
    return before ? before.then(() => this.#actor.call(envelope)) : this.#actor.call(envelope);
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    probes.alarmed?.(this.ctx.id.toString(), info);
    const scheduledTime = probes.alarmAt ?? info?.scheduledTime;
    probes.alarmAt = undefined;
    await this.#actor.alarm?.({ isRetry: false, retryCount: 0, ...info, scheduledTime } as AlarmInvocationInfo);
  }

  override async fetch(request: Request): Promise<Response> {
    return (await this.#actor.fetch?.(request)) ?? new Response(null, { status: 501 });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    await this.#actor.webSocketMessage?.(socket, message);
  }

  override async webSocketClose(socket: WebSocket, code: number, reason: string, wasClean: boolean): Promise<void> {
    await this.#actor.webSocketClose?.(socket, code, reason, wasClean);
  }

  override async webSocketError(socket: WebSocket, error: unknown): Promise<void> {
    await this.#actor.webSocketError?.(socket, error);
  }
}

function countAlarmWrites(ctx: DurableObjectState): LiveObject {
  const { storage } = ctx;
  const live: LiveObject = { ctx, alarmWrites: 0 };
  const { setAlarm, deleteAlarm } = storage;
  storage.setAlarm = (...args) => {
    live.alarmWrites += 1;
    return setAlarm.apply(storage, args);
  };
  storage.deleteAlarm = (...args) => {
    live.alarmWrites += 1;
    return deleteAlarm.apply(storage, args);
  };
  return live;
}

function tellCommits({ id, storage }: DurableObjectState): void {
  const { transactionSync } = storage;
  storage.transactionSync = (body) => {
    const result = transactionSync.call(storage, body) as ReturnType<typeof body>;
    probes.committed?.(id.toString());
    return result;
  };
}

export default {
  fetch: (request: Request, env: unknown, ctx: ExecutionContext): Promise<Response> => handler.fetch(request, env, ctx),
};
