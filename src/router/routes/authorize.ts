/** The application's own word on each request from outside, before any actor hears of it. */
import { ActorError, decodeValue, parseSubprotocols, has } from "../../protocol/index.js";
import type { ActorCall, CallActor } from "../objects/call-actor.js";
import type { ActorAccess } from "./gateway-request.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { isUpgrade } from "../request/socket-opening.js";

/**
 * What a request is for. `connect`: a connection of a client; `webSocket`: a raw socket; `request`: a raw request;
 * `create`: an actor over REST; `resolve`: whether there is one.
 */
export type AuthorizeKind = "action" | "send" | "connect" | "webSocket" | "request" | "create" | "resolve";

interface AuthorizeCall {
  readonly kind: AuthorizeKind;
  /** The name of the action or queue. */
  readonly name?: string;
  /** The `token` of the client's configuration, however it came: as a header, in the subprotocols of a socket, in the URL. */
  readonly token: string | undefined;
  /** The connection params as the client gave them, before any schema. */
  readonly params: unknown;
}

/** The actor that a request asks for: by name and key, or by its id. */
export type AuthorizeTarget =
  | (AuthorizeCall & { readonly actor: string; readonly key: readonly string[] })
  | (AuthorizeCall & {
      readonly actorId: string;
      /** Whose id it is; `undefined` if it is nobody's. It starts no actor. */
      resolve(): Promise<{ readonly actor: string; readonly key: readonly string[] } | undefined>;
    });

/**
 * Whether a request may reach the actor. `undefined` and true let it pass; anything else refuses it with `auth/forbidden` (403).
 * What it throws is the answer. `request` is without its body.
 */
export type Authorize<Env = unknown> = (
  request: Request,
  target: AuthorizeTarget,
  env: Env,
) => boolean | void | Promise<boolean | void>;

/** The same ways to the actors, each of which asks first. Management has a token of its own and is not asked for. */
export function authorized(
  access: ActorAccess,
  request: Request,
  authorize: (request: Request, target: AuthorizeTarget) => unknown,
): ActorAccess {
  const ask = async (
    kind: AuthorizeKind,
    { target, params }: Pick<ActorCall, "target" | "params">,
    name?: string,
  ): Promise<void> => {
    const call: AuthorizeCall = {
      kind,
      ...(name !== undefined && { name }),
      token: tokenOf(request),
      params: params && decodeValue(params),
    };
    const asked: AuthorizeTarget = has(target, "actorId")
      ? { ...call, actorId: target.actorId, resolve: () => find(target, access.callActor) }
      : { ...call, actor: target.name, key: [...target.key] };
    const answer = await authorize(bodiless(request), asked);
    if (answer !== undefined && answer !== true)
      throw new ActorError("auth", "forbidden", "This caller may not do that.");
  };
  return {
    async callActor(call) {
      const { operation, target } = call;
      if (operation.kind === "action") await ask("action", call, operation.name);
      else if (operation.kind !== "destroy" && operation.kind !== "sleep")
        await ask(has(target, "actorId") || target.creation.mode === "get" ? "resolve" : "create", call);
      return access.callActor(call);
    },
    async sendMessage(send) {
      await ask("send", send, send.queue);
      return access.sendMessage(send);
    },
    async openSocket(call) {
      await ask(call.operation.kind === "connect" && call.operation.raw === true ? "webSocket" : "connect", call);
      return access.openSocket(call);
    },
    async sendRequest(raw) {
      await ask("request", raw);
      return access.sendRequest(raw);
    },
  };
}

async function find(
  target: Extract<ActorTarget, { actorId: string }>,
  callActor: CallActor,
): Promise<{ actor: string; key: readonly string[] } | undefined> {
  try {
    const { name = "", key = [] } = await callActor({ target, operation: { kind: "resolve" } });
    return { actor: name, key };
  } catch (error) {
    if (
      ActorError.isActorError(error) &&
      error.group === "actor" &&
      (error.code === "not_found" || error.code === "invalid_id")
    )
      return undefined;
    throw error;
  }
}

/** A token goes in a header where it can, never in a log. */
function tokenOf(request: Request): string | undefined {
  const { headers } = request;
  const header = headers.get("x-rivet-token") ?? /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (header !== undefined) return header;
  const { pathname, searchParams } = new URL(request.url);
  const offered = isUpgrade(request) ? parseSubprotocols(headers.get("sec-websocket-protocol")).token : undefined;
  return (
    offered ?? decoded(/\/gateway\/[^/@]*@([^/]*)/.exec(pathname)?.[1]) ?? searchParams.get("rvt-token") ?? undefined
  );
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The body is for the actor. */
function bodiless(request: Request): Request {
  const { url, method, headers, signal } = request;
  const { cf } = request as { readonly cf?: unknown };
  return new Request(url, { method, headers, signal, ...(cf !== undefined && { cf }) } as RequestInit);
}
