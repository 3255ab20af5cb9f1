import type { Frame } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Connection } from "../activation/connection.js";
import { checkEvent } from "./event-check.js";
import { encodeFrame, outgoingTooLong, sizeOf, type Dialect } from "./frames.js";

/** Events on their way to connections: checked, encoded once for all that read alike, sent after what is dirty is committed. */
export class EventDelivery {
  readonly #activation: ActorActivation;
  readonly #isConnected: (connection: Connection) => boolean;
  /** What is sent while a migration goes on. */
  #held: (() => void)[] | undefined;

  constructor(activation: ActorActivation, isConnected: (connection: Connection) => boolean) {
    this.#activation = activation;
    this.#isConnected = isConnected;
  }

  /**
   * Sends an event to all of these that subscribed to it, after what is dirty has been committed.
   * @throws actor/validation_error, message/outgoing_too_long, value/not_serializable; nobody is sent anything then
   */
  broadcast(connections: Iterable<Connection>, name: string, args: readonly unknown[]): void {
    const checked = checkEvent(this.#activation.actor, name, args);
    const frameFor = this.#frames(name, checked);
    const receivers = [...connections].filter(
      (connection) => connection.kind === "socket" && connection.events.has(name),
    );
    // All encodings before the first send, so that a value that one of them refuses reaches nobody.
    for (const connection of receivers) frameFor(connection);
    this.#activation.commitOrThrow();
    this.#leave(() => {
      for (const connection of receivers) connection.send(frameFor(connection));
    });
  }

  /** Sends an event to one connection, subscribed or not. */
  send(connection: Connection, name: string, args: readonly unknown[]): void {
    const checked = checkEvent(this.#activation.actor, name, args);
    if (connection.kind !== "socket") {
      this.#activation.ports.log.warn({
        msg: "An event was sent to a caller that cannot receive any",
        group: "connection",
        code: "not_configured",
        event: name,
      });
      return;
    }
    const frame = this.#frames(name, checked)(connection);
    this.#activation.commitOrThrow();
    this.#leave(() => {
      if (this.#isConnected(connection)) connection.send(frame);
    });
  }

  /** A migration goes on, and commits wait for its end: so does what is sent meanwhile. */
  hold(): void {
    this.#held = [];
  }

  /** It has ended, and what it changed is stored, or nothing of it. */
  release(isStored: boolean): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (isStored) for (const send of held) send();
  }

  #leave(send: () => void): void {
    if (this.#held) this.#held.push(send);
    else send();
  }

  /** Encodes once for all connections that read alike. */
  #frames(name: string, args: readonly unknown[]): (dialect: Dialect) => Frame {
    const frames = new Map<string, Frame>();
    const limit = this.#activation.actor.messageLimits.outgoing;
    return (dialect) => {
      const id = `${dialect.encoding} ${dialect.extended}`;
      const known = frames.get(id);
      if (known !== undefined) return known;
      const frame = encodeFrame(dialect, { tag: "Event", val: { name, args: [...args] } });
      if (sizeOf(frame) > limit) throw outgoingTooLong(`The event "${name}"`, limit);
      frames.set(id, frame);
      return frame;
    };
  }
}
