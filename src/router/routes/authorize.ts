/** The application's own decision on each request from outside, before any actor is called. */
import { ActorError, decodeValue, parseSubprotocols, has } from "../../protocol/index.js";
import type { ActorCall, CallActor } from "../objects/call-actor.js";
import type { ActorAccess } from "../objects/actor-access.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { isUpgrade } from "../request/socket-opening.js";

/**
 * What a request asks for. `connect`: a client's connection; `webSocket`: a raw socket; `request`: a raw request;
 * `create`: to create an actor over REST; `resolve`: to look one up.
 */
export type AuthorizeKind = "action" | "send" | "connect" | "webSocket" | "request" | "create" | "resolve";

interface AuthorizeCall {
  readonly kind: AuthorizeKind;
  /** The name of the action or queue. */
  readonly name?: string;
  /** The `token` of the client's configuration, from a header, a socket's subprotocols or the URL. */
  readonly token: string | undefined;
  /** The connection params as the client sent them, before validation. */
  readonly params: unknown;
}

/** The actor a request is for: by name and key, or by id. */
export type AuthorizeTarget =
  | (AuthorizeCall & { readonly actor: string; readonly key: readonly string[] })
  | (AuthorizeCall & {
      readonly actorId: string;
      /** Returns the name and key of the id, or undefined if there is no such actor. Starts no actor. */
      resolve(): Promise<{ readonly actor: string; readonly key: readonly string[] } | undefined>;
    });

/**
 * Decides whether a request may reach the actor. True or undefined allows it; any other value is `auth/forbidden`
 * (403); an error it throws is the answer. `request` has no body.
 *
 * @example
 *     const authorize: Authorize<Env> = async (request, { token }) => (await verify(token)) !== undefined;
 */
export type Authorize<Env = unknown> = (
  request: Request,
  target: AuthorizeTarget,
  env: Env,
) => boolean | void | Promise<boolean | void>;

/** Access to actors that asks `authorize` first. Management has its own token and does not ask. */
export function authorized(
  access: ActorAccess,
  request: Request,
  url: URL,
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
      token: tokenOf(request, url),
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
      if (operation.kind !== "destroy" && operation.kind !== "sleep")
        await ask(has(target, "actorId") || target.creation.mode === "get" ? "resolve" : "create", call);
      return access.callActor(call);
    },
    async callAction(action) {
      const { target, params, name } = action;
      await ask("action", { target, ...(params !== undefined && { params }) }, name);
      return access.callAction(action);
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

/** A client sends its token in a header where it can. */
function tokenOf(request: Request, { pathname, searchParams }: URL): string | undefined {
  const { headers } = request;
  const header = headers.get("x-rivet-token") ?? /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (header !== undefined) return header;
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

/** A copy without the body, which is for the actor. */
function bodiless(request: Request): Request {
  const { url, method, headers, signal } = request;
  const { cf } = request as { readonly cf?: unknown };
  return new Request(url, { method, headers, signal, ...(cf !== undefined && { cf }) } as RequestInit);
}
