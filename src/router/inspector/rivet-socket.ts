/**
 * The socket of RivetKit's inspector. It ends in the Worker, which watches the object through a socket of ours: the object
 * hibernates under that, and knows nothing of these frames.
 */
import { ActorError, encodeValue, sendableCloseReason } from "../../protocol/index.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { upgradedResponse } from "../request/socket-opening.js";
import type { PartRequest } from "../routes/router-part.js";
import { openWatch } from "./ask.js";
import { mayAct } from "./inspect-act.js";
import type { Operator } from "./operators.js";
import { MAX_MESSAGES, RivetAnswers } from "./rivet-answers.js";
import { readRequest, responses, updates, type RivetRequest } from "./rivet-frames.js";

/** The most requests that wait for their answers. */
const MAX_WAITING = 64;

/** What each kind of change makes the Worker tell. Schedules may have changed with any commit that has deadlines. */
const TOLD = ["state", "connections", "queue", "history", "schedules"] as const;

/** Throws what the actor answers. */
export async function openRivetSocket(asked: PartRequest, target: ActorTarget, operator: Operator): Promise<Response> {
  const watched = await openWatch(asked, target);
  const { 0: client, 1: server } = asked.sockets.pair();
  const socket = new RivetSocket(server, new RivetAnswers(asked, target), operator);
  const end = (): void => {
    close(watched, 1000, "");
    close(server, 1000, "");
  };
  server.addEventListener("message", ({ data }) => socket.received(data));
  for (const [one, type] of [watched, server].flatMap(
    (each) =>
      [
        [each, "close"],
        [each, "error"],
      ] as const,
  ))
    one.addEventListener(type, end);
  watched.addEventListener("message", ({ data }) => socket.changed(data));
  // Later dates of compatibility give blobs, as browsers do.
  server.binaryType = "arraybuffer";
  server.accept();
  watched.accept();
  socket.begin();
  return upgradedResponse(client, asked.request.headers, asked.sockets);
}

class RivetSocket {
  readonly #socket: WebSocket;
  readonly #answers: RivetAnswers;
  readonly #operator: Operator;
  /** One frame after the other: an answer is never older than what was told before it. */
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  readonly #changed = new Set<string>();

  constructor(socket: WebSocket, answers: RivetAnswers, operator: Operator) {
    this.#socket = socket;
    this.#answers = answers;
    this.#operator = operator;
  }

  begin(): void {
    this.#next(async () => updates.init(await this.#answers.summary(), await this.#answers.schedules()));
  }

  /** The object has made a commit. What changed is asked for once, however many commits there were meanwhile. */
  changed(data: unknown): void {
    const isIdle = this.#changed.size === 0;
    const { changed } = JSON.parse(String(data)) as { readonly changed: readonly string[] };
    for (const what of changed) this.#changed.add(what);
    if (!isIdle) return;
    this.#next(async () => {
      const told = TOLD.filter((what) => this.#changed.delete(what));
      this.#changed.clear();
      for (const what of told) this.#send(await this.#update(what));
    });
  }

  /** The other side asks. */
  received(data: unknown): void {
    if (this.#waiting >= MAX_WAITING) return close(this.#socket, 1013, "connection.overloaded");
    this.#waiting += 1;
    this.#next(async () => {
      try {
        if (!(data instanceof ArrayBuffer)) throw new ActorError("encoding", "invalid", "A frame is binary");
        return await this.#answer(readRequest(new Uint8Array(data)));
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  #next(work: () => Promise<Uint8Array | undefined | void>): void {
    this.#last = this.#last
      .then(work)
      .catch((error: unknown) => updates.error(messageOf(error)))
      .then((bytes) => this.#send(bytes ?? undefined));
  }

  #send(bytes: Uint8Array | undefined): void {
    // Frames for someone who has left are for nobody.
    if (bytes !== undefined && this.#socket.readyState === 1) this.#socket.send(bytes);
  }

  async #update(what: (typeof TOLD)[number]): Promise<Uint8Array | undefined> {
    const answers = this.#answers;
    switch (what) {
      case "state":
        return updates.state((await answers.state()).state);
      case "connections":
        return updates.connections((await answers.connections()).connections);
      case "queue":
        return updates.queue((await answers.queue(1)).size);
      case "history": {
        const { history } = await answers.workflow();
        return history === null ? undefined : updates.history(history);
      }
      default:
        return updates.schedules(await answers.schedules());
    }
  }

  async #answer(request: RivetRequest): Promise<Uint8Array | undefined> {
    const answers = this.#answers;
    switch (request.tag) {
      case "patchState": {
        const by = mayAct(this.#operator);
        await answers.ask({ about: "setState", value: encodeValue(request.state), ifMatch: "*", by });
        return undefined;
      }
      case "state":
        return responses.state(request.id, await answers.state());
      case "connections":
        return responses.connections(request.id, (await answers.connections()).connections);
      case "action": {
        const { name: action, args } = request;
        const by = mayAct(this.#operator);
        const called = await answers.ask<{ output: unknown }>({ about: "call", action, args: encodeValue(args), by });
        return responses.action(request.id, called.output);
      }
      case "rpcs": {
        const { actions } = await answers.ask<{ actions: readonly string[] }>({ about: "summary" });
        return responses.rpcs(request.id, [...actions].sort());
      }
      case "traces":
        return responses.traces(request.id);
      case "queue":
        return responses.queue(request.id, await answers.queue(within(request.limit, MAX_MESSAGES)));
      case "history":
        return responses.history(request.id, await answers.workflow());
      case "replay": {
        const { entryId: id, id: rid } = request;
        await answers.ask({ about: "replayFrom", by: mayAct(this.#operator), ...(id !== undefined && { id }) });
        return responses.replay(rid, await answers.workflow());
      }
      case "schema":
        return responses.schema(request.id, ((await answers.schema()) as { schema: unknown }).schema);
      case "rows": {
        const { table, limit, offset } = request;
        return responses.rows(request.id, (await answers.rows(table, within(limit, 500), offset)).rows);
      }
      case "schedules":
        return responses.schedules(request.id, await answers.schedules());
      default:
        throw new ActorError("feature", "unsupported", "The history of a schedule, and its end, are the actor's code");
    }
  }
}

function within(limit: number, most: number): number {
  return Math.min(Math.max(limit, 1), most);
}

/** What went wrong, if it is for operators; everything else is logged where it happened. */
function messageOf(error: unknown): string {
  return ActorError.isActorError(error) ? `${error.group}.${error.code}: ${error.message}` : "internal_error";
}

function close(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, sendableCloseReason(reason));
  } catch {
    // It has ended already.
  }
}
