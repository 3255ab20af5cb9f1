import { ActorError } from "../../protocol/index.js";
import type { ObjectWatchers } from "../activation/object-inspector.js";
import type { ActorPorts, Batch, Socket } from "../ports.js";
import { changesIn } from "./changes.js";

/** The token of operators' sockets among those that are no connections; senders' are 32 hex digits. */
const TOKEN = "inspector";
const MAX_WATCHERS = 32;

/**
 * Operators who watch the actor through hibernating sockets. They are no connections: no hook, no row, no delay of sleep, and
 * their messages and ends start nothing (INSPECT-7).
 */
export class Watchers implements ObjectWatchers {
  readonly #ports: Pick<ActorPorts, "replySockets">;
  /** All that a commit asks while nobody watches. */
  #isWatched: boolean;

  constructor(ports: Pick<ActorPorts, "replySockets">) {
    this.#ports = ports;
    this.#isWatched = this.#sockets.length > 0;
  }

  get #sockets(): Socket[] {
    return [...this.#ports.replySockets(TOKEN)];
  }

  /** @throws {connection/too_many} when there are as many as there may be */
  add(accept: (token: string) => Socket): void {
    if (this.#sockets.length >= MAX_WATCHERS)
      throw new ActorError("connection", "too_many", `At most ${MAX_WATCHERS} operators can watch an actor`);
    accept(TOKEN);
    this.#isWatched = true;
  }

  /** A commit was made: tells what it changed. It leaves with the commit. */
  committed(batch: Batch): void {
    if (!this.#isWatched) return;
    const frame = changesIn(batch);
    if (frame === undefined) return;
    const sockets = this.#sockets;
    this.#isWatched = sockets.length > 0;
    for (const socket of sockets) socket.send(frame);
  }
}
