/**
 * Raw requests: calls `onRequest` and streams both bodies (CONN-10).
 *
 * The caller is a connection, and keeps the actor awake, until the response body has ended. Invariants: the handler's
 * changes are committed before its Response is returned, and later changes before the next chunk of the body (COMMIT-2);
 * a body ends when its caller has gone or the activation is over; a body that nobody receives is cancelled.
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

/** How much of a body is buffered ahead of its reader, so that a short body ends before it is read. */
const AHEAD_BYTES = 65_536;

interface AdmittingActivation extends ActorActivation {
  readonly connections: Connections;
  readonly sleep: ActorActivation["sleep"] & { during<T>(serve: () => Promise<T>): Promise<T> };
}

const SERVED: ConnectionEnd = { code: 1000, reason: "" };
const LOST: ConnectionEnd = { code: 1006, reason: "The connection was lost" };

/**
 * Serves a request with `onRequest`. `actionTimeout` limits the handler, not the body of its Response.
 *
 * @throws {actor/no_request_handler} when the actor has no `onRequest`
 * @throws {actor/invalid_response} when the handler returns no Response that can be sent
 * @throws {actor/action_timed_out} when the handler takes longer than `actionTimeout`
 * @throws {actor/restarting} when the activation is lost
 * @throws whatever the actor's hooks throw
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

/** Streams the body. The actor stays awake and the caller connected until it ends. */
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
  const body = new ResponseBody(activation, source, (end) => {
    if (end !== SERVED) abort.abort(gone());
    tellEnd(end);
  });
  activation.ports.waitUntil(activation.sleep.during(() => ended.then(leave)).catch(() => {}));
  return body.stream;
}

/** Runs `onRequest` and commits its changes before the Response, or the error, leaves. `left` resolves when the body has ended. */
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
    signal: () => abort.signal,
    callback,
    conn: () => connection.view,
    request: () => request,
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
    // The handler's Response, now or later: nobody will receive it.
    given?.then(discardOf, () => {});
    throw error;
  } finally {
    // A handler that destroys its actor still answers: the shutdown, which has only just begun, waits for the body.
    if (activation.record.destroyed) activation.background.waitFor("The response of `onRequest`", left);
  }
}

/** What a response body needs from its actor. */
type ResponseBodyHost = Pick<ActorActivation, "abortSignal" | "commitOrThrow" | "ports">;

/** A response body, streamed chunk by chunk. */
class ResponseBody {
  readonly stream: ReadableStream;
  readonly #activation: ResponseBodyHost;
  readonly #reader: ReadableStreamDefaultReader;
  readonly #onEnd: (end: ConnectionEnd) => void;
  #hasEnded = false;
  #stop: () => void = () => {};

  constructor(activation: ResponseBodyHost, source: ReadableStream, onEnd: (end: ConnectionEnd) => void) {
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
      this.#activation.ports.log.error({ msg: "The response of `onRequest` was interrupted", stack: describe(error) });
      this.#cancel(error);
      throw error;
    }
  }

  /** The reader is gone, or the source failed. */
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
  if (!(answer instanceof Response)) throw invalidResponse("must return a Response");
  if (answer.status === 101) throw invalidResponse("must not return an upgrade: use `onWebSocket` for sockets");
  return answer;
}

/** A copy, because a fetched Response is immutable. */
function copyOf(response: Response, body: ReadableStream | null): Response {
  try {
    return new Response(body, response);
  } catch (cause) {
    body?.cancel(cause).catch(() => {});
    throw invalidResponse("returned a Response that cannot be sent", cause);
  }
}

function readerOf(body: ReadableStream): ReadableStreamDefaultReader {
  try {
    return body.getReader();
  } catch (cause) {
    throw invalidResponse("returned a Response whose body was already read", cause);
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw invalidResponse("returned a Response whose body is not a stream of bytes");
}

function discardOf(answer: unknown): void {
  if (answer instanceof Response) discard(answer.body);
}

function discard(body: ReadableStream | null): void {
  // A locked body has another owner, who may still read it.
  body?.cancel().catch(() => {});
}

function invalidResponse(what: string, cause?: unknown): ActorError {
  return new ActorError("actor", "invalid_response", `\`onRequest\` ${what}`, cause === undefined ? {} : { cause });
}

function timedOut(abort: AbortController): ActorError {
  const error = new ActorError("actor", "action_timed_out", "`onRequest` did not return a Response in time");
  abort.abort(error);
  return error;
}

function gone(): ActorError {
  return new ActorError("actor", "aborted", "The caller has gone");
}
