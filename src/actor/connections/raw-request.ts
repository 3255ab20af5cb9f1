/**
 * Raw requests: what `onRequest` answers, streamed both ways (CONN-10).
 *
 * The caller is a connection, and keeps the actor awake, until the answer's body has ended. Invariants: what the
 * handler changed is committed before its Response is given, and what is changed later before the next part of the body
 * leaves (COMMIT-2); a body ends when its caller has gone, or the activation is over; every body that nobody gets is
 * cancelled.
 */
import { ActorError } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Admitted, Caller } from "./admission.js";
import type { Handler } from "../definition/compiled-actor.js";
import type { Connection } from "../activation/connection.js";
import type { Connections } from "./connections.js";
import { CallbackContext, READY } from "../callbacks/callback-context.js";
import { describe } from "../activation/thrown.js";
import { checkOperation } from "../callbacks/dispatch.js";
import { runUserCode } from "../callbacks/user-code.js";
import type { ConnectionEnd } from "../ports.js";

/** How much of a body is made ready before its reader asks: a short one has ended when its reader begins. */
const AHEAD_BYTES = 65_536;

interface AdmittingActivation extends ActorActivation {
  readonly connections: Connections;
  readonly sleep: ActorActivation["sleep"] & { during<T>(serve: () => Promise<T>): Promise<T> };
}

const SERVED: ConnectionEnd = { code: 1000, reason: "" };
const LOST: ConnectionEnd = { code: 1006, reason: "The connection was lost" };

/**
 * What the actor answers to a request. `actionTimeout` bounds the handler, not the body that it gives.
 *
 * @throws actor/no_request_handler, actor/invalid_response, actor/action_timed_out, actor/restarting, and whatever the
 * actor's hooks throw
 */
export async function answerRequest(
  activation: AdmittingActivation,
  request: Request,
  caller: Caller,
  admitted?: Admitted,
): Promise<Response> {
  checkOperation(activation.actor, { kind: "request" }, activation.ports.log);
  const connection = await activation.connections.open(caller, admitted);
  const abort = new AbortController();
  const onGone = (): void => abort.abort(gone());
  const onShutdown = (): void => abort.abort(activation.shutdown.signal.reason);
  request.signal.addEventListener("abort", onGone, { once: true });
  activation.shutdown.signal.addEventListener("abort", onShutdown, { once: true });
  if (request.signal.aborted) onGone();
  if (activation.shutdown.signal.aborted) onShutdown();
  let tellLeft = (): void => {};
  const left = new Promise<void>((resolve) => {
    tellLeft = resolve;
  });
  const leave = (end: ConnectionEnd): Promise<void> => {
    tellLeft();
    request.signal.removeEventListener("abort", onGone);
    activation.shutdown.signal.removeEventListener("abort", onShutdown);
    return activation.connections.close(connection, end);
  };
  try {
    const response = await callHandler(activation, request, connection, abort, left);
    if (response.body === null || request.method === "HEAD") {
      const bodiless = copyOf(response, null);
      discard(response.body);
      await leave(SERVED);
      return bodiless;
    }
    return copyOf(response, openBody(activation, response.body, abort, leave));
  } catch (error) {
    await leave(SERVED);
    throw error;
  }
}

/** The body on its way: the actor is awake meanwhile, and the caller leaves with its end. */
function openBody(
  activation: AdmittingActivation,
  source: ReadableStream,
  abort: AbortController,
  leave: (end: ConnectionEnd) => Promise<void>,
): ReadableStream {
  let tellEnd: (end: ConnectionEnd) => void = () => {};
  const ended = new Promise<ConnectionEnd>((resolve) => {
    tellEnd = resolve;
  });
  const body = new AnswerBody(activation, source, (end) => {
    if (end !== SERVED) abort.abort(gone());
    tellEnd(end);
  });
  activation.ports.waitUntil(activation.sleep.during(() => ended.then(leave)).catch(() => {}));
  return body.stream;
}

/** Runs `onRequest`; what it changed is committed before its Response, or its error, is given. `left`: the answer's body has ended. */
async function callHandler(
  activation: ActorActivation,
  request: Request,
  connection: Connection,
  abort: AbortController,
  left: Promise<void>,
): Promise<Response> {
  const { config, options } = activation.actor;
  const callback = new Callback(activation.callbacks, "onRequest");
  const context = new CallbackContext(activation, READY, {
    signal: abort.signal,
    callback,
    conn: connection.view,
    request,
    logged: { hook: "onRequest" },
  });
  let given: Promise<unknown> | undefined;
  const code = (): unknown => (given = Promise.resolve((config.onRequest as unknown as Handler)(context, request)));
  try {
    return await runUserCode(activation, callback, code, {
      timeout: { ms: options.actionTimeout, error: () => timedOut(abort) },
      commit: "must",
      conclude: async (ran) => checkedResponse(await ran),
    });
  } catch (error) {
    // What the handler gives, or will give: it came too late, or what it began was refused, or it is none.
    given?.then(discardOf, () => {});
    throw error;
  } finally {
    // The actor that it destroys gives its answer first. That end has begun just now, and has not looked at this yet.
    if (activation.record.destroyed) activation.background.waitFor("The answer of `onRequest`", left);
  }
}

/** A body on its way, part by part. */
class AnswerBody {
  readonly stream: ReadableStream;
  readonly #activation: ActorActivation;
  readonly #reader: ReadableStreamDefaultReader;
  readonly #onEnd: (end: ConnectionEnd) => void;
  #hasEnded = false;
  #stop: () => void = () => {};

  constructor(activation: ActorActivation, source: ReadableStream, onEnd: (end: ConnectionEnd) => void) {
    this.#activation = activation;
    this.#onEnd = onEnd;
    this.#reader = readerOf(source);
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#stop = () => {
            const { reason } = activation.abortSignal;
            controller.error(reason);
            this.#cancel(reason);
          };
          activation.abortSignal.addEventListener("abort", this.#stop, { once: true });
        },
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => this.#cancel(reason),
      },
      { highWaterMark: AHEAD_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  async #pull(controller: { enqueue(chunk: Uint8Array): void; close(): void }): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (this.#hasEnded) return;
      this.#activation.commitOrThrow();
      if (!done) return controller.enqueue(bytesOf(value));
      controller.close();
      this.#end(SERVED);
    } catch (error) {
      if (this.#hasEnded) return;
      this.#activation.ports.log.error({ msg: "The answer of `onRequest` broke off", error: describe(error) });
      this.#cancel(error);
      throw error;
    }
  }

  /** Nobody reads on. */
  #cancel(reason: unknown): void {
    this.#end(LOST);
    this.#reader.cancel(reason).catch(() => {});
  }

  #end(end: ConnectionEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#activation.abortSignal.removeEventListener("abort", this.#stop);
    this.#onEnd(end);
  }
}

function checkedResponse(answer: unknown): Response {
  if (!(answer instanceof Response)) throw invalidResponse("gave something that is no Response");
  if (answer.status === 101) throw invalidResponse("gave an upgrade: sockets are for `onWebSocket`");
  return answer;
}

/** What may be sent: a copy, since a Response that was fetched cannot be changed. */
function copyOf(response: Response, body: ReadableStream | null): Response {
  try {
    return new Response(body, response);
  } catch (cause) {
    body?.cancel(cause).catch(() => {});
    throw invalidResponse("gave a Response that cannot be sent", cause);
  }
}

function readerOf(body: ReadableStream): ReadableStreamDefaultReader {
  try {
    return body.getReader();
  } catch (cause) {
    throw invalidResponse("gave a Response whose body is read already", cause);
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw invalidResponse("gave a Response whose body is no stream of bytes");
}

function discardOf(answer: unknown): void {
  if (answer instanceof Response) discard(answer.body);
}

function discard(body: ReadableStream | null): void {
  // One that is locked is somebody else's.
  body?.cancel().catch(() => {});
}

function invalidResponse(what: string, cause?: unknown): ActorError {
  return new ActorError("actor", "invalid_response", `\`onRequest\` ${what}`, cause === undefined ? {} : { cause });
}

function timedOut(abort: AbortController): ActorError {
  const error = new ActorError("actor", "action_timed_out", "`onRequest` gave no Response in time");
  abort.abort(error);
  return error;
}

function gone(): ActorError {
  return new ActorError("actor", "aborted", "The caller has gone");
}
