import type { Frame } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Connection } from "../activation/connection.js";
import { checkEvent } from "./event-check.js";
import { encodeFrame, outgoingTooLong, sizeOf, type Dialect } from "./frames.js";

/** Sends events: checks them, encodes them once per dialect, and sends them after the commit of everything dirty. */
export class EventDelivery {
  readonly #activation: ActorActivation;
  readonly #isConnected: (connection: Connection) => boolean;
  /** Events sent during a migration. */
  #held: (() => void)[] | undefined;

  constructor(activation: ActorActivation, isConnected: (connection: Connection) => boolean) {
    this.#activation = activation;
    this.#isConnected = isConnected;
  }

  /**
   * Sends an event to those connections that subscribed to it, after the commit of everything dirty. When it throws, no
   * connection has been sent anything.
   *
   * @throws {actor/validation_error} {message/outgoing_too_long} {value/not_serializable} when the event cannot be sent
   */
  broadcast(connections: Iterable<Connection>, name: string, args: readonly unknown[]): void {
    const checked = checkEvent(this.#activation.actor, name, args);
    const frameFor = this.#frames(name, checked);
    const receivers = [...connections].filter(
      (connection) => connection.kind === "socket" && connection.events.has(name),
    );
    // All encodings come before the first send, so that a value that one of them refuses reaches no connection.
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

  /** During a migration commits wait, and so do events. */
  hold(): void {
    this.#held = [];
  }

  /** The migration has ended: its changes are stored, or none of them are. */
  release(isStored: boolean): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (isStored) for (const send of held) send();
  }

  #leave(send: () => void): void {
    if (this.#held) this.#held.push(send);
    else send();
  }

  /** Encodes once for all connections of the same dialect. */
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
