/**
 * The table of connections, from admission to end.
 *
 * Invariants:
 *  1. Until `onBeforeConnect` and `createConnState` resolve, a caller is invisible to others and receives no events.
 *  2. A socket's attachment holds what restores its connection: params, state, subscriptions. Every commit refreshes it.
 *  3. With `onDisconnect`, each connection whose `onConnect` may have been committed has a row. After a crash, the next start
 *     finds the row without a socket and calls the hook (CONN-4).
 *  4. A dead socket fails nothing else.
 */
import { ActorError, type Frame } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { admit, callConnectionHook, isWatched, unnoticed, type Admitted, type Caller } from "./admission.js";
import { Connection, type ConnectionOwner, type ConnectionView } from "../activation/connection.js";
import { ConnectionMap } from "../activation/connection-map.js";
import type { ConnectionTable } from "../activation/connection-table.js";
import { describe } from "../activation/thrown.js";
import { destroyed } from "../callbacks/user-code.js";
import { EventDelivery } from "./event-delivery.js";
import { encodeFrame, sizeOf } from "./frames.js";
import type { ConnectionEnd, Socket } from "../ports.js";
import { deliverClose, serveRawSocket } from "./raw-socket.js";
import { LostConnections } from "./lost-connections.js";
import { KEYS } from "../storage/record.js";
import { UnseenCalls } from "./unseen-calls.js";
import type { UnreadOutput } from "../activation/unread-output.js";
import type { StateOwner } from "../state/state-tree.js";

/** The attachment of a socket that was closed from this side. */
const ENDED = new Uint8Array();

/** How a connection ended whose close was not seen. */
const LOST: ConnectionEnd = { code: 1006, reason: "The connection was lost" };

export class Connections implements ConnectionOwner, ConnectionTable {
  /** `c.conns` */
  readonly view: ConnectionMap;
  readonly #activation: ActorActivation;
  readonly #connections = new Map<string, Connection>();
  readonly #bySocket = new Map<Socket, Connection>();
  /** Connections whose stored data is out of date. */
  readonly #changed = new Set<Connection>();
  readonly #unseen: UnseenCalls;
  /** Whether a hook or a schema sees every connection. */
  readonly #isWatched: boolean;
  readonly #lost: LostConnections;
  readonly #events: EventDelivery;
  #restoredRaw: Connection[] = [];
  /** The actor is being destroyed: no caller is admitted. */
  #isClosed = false;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
    this.#lost = new LostConnections(activation);
    this.#events = new EventDelivery(activation, (connection) => this.includes(connection));
    this.#unseen = new UnseenCalls(this.#connections);
    this.#isWatched = isWatched(activation.actor.config);
    this.view = new ConnectionMap(() => {
      this.#unseen.show();
      return this.#connections;
    });
  }

  get actorId(): string {
    return this.#activation.record.actorId;
  }

  get stateOwner(): Omit<StateOwner, "onDirty"> {
    const { callbacks, ports, record } = this.#activation;
    return { actorId: record.actorId, callbacks, log: ports.log };
  }

  checkAlive(): void {
    this.#activation.checkAlive();
  }

  of(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Connections whose sockets cannot hibernate. They keep an idle actor awake. */
  get bound(): Connection[] {
    return [...this.#connections.values()].filter((connection) => connection.kind === "raw" && !connection.hibernates);
  }

  includes(connection: Connection): boolean {
    return this.#connections.has(connection.id);
  }

  // ---- begin -------------------------------------------------------------------------------------------------------

  /**
   * Connects a caller: runs `onBeforeConnect` and `createConnState` unless it is `admitted`, adds it to the table, runs
   * `onConnect`, and commits what the hooks changed.
   *
   * @throws {connection/too_many} when the actor is at its limit
   * @throws {connection/closed} when `onConnect` ends the connection
   * @throws {actor/destroyed} when the actor is destroyed meanwhile
   * @throws whatever `admit` or the hooks throw
   */
  async open(caller: Caller, admitted?: Admitted): Promise<Connection> {
    if (caller.kind !== "call") this.#checkRoom();
    const { config, options } = this.#activation.actor;
    const { about, state } = admitted ?? (await admit(this.#activation, caller));
    this.#checkOpen();
    const connection = new Connection(this, about, state);
    if (connection.kind !== "call") {
      // Throws for what its socket cannot carry, before a hook sees it. Without hooks `bind` follows at once.
      if (this.#isWatched) connection.encode();
      this.#changed.add(connection);
    }
    this.#connections.set(connection.id, connection);
    try {
      if (config.onConnect)
        await callConnectionHook(
          this.#activation,
          "onConnect",
          options.onConnectTimeout,
          { request: caller.request },
          connection,
          [connection.view],
        );
      this.#checkOpen();
      if (!this.includes(connection))
        throw new ActorError("connection", "closed", "The connection was ended by `onConnect`");
    } catch (error) {
      // It was never connected, so `onDisconnect` does not follow, even if a commit has stored its row.
      if (this.#remove(connection) && connection.isStored) this.#activation.delete(KEYS.connection(connection.id));
      throw error;
    } finally {
      if (this.#hasHooks) this.#activation.commitOrThrow();
    }
    return connection;
  }

  /**
   * Binds the socket of a connection, and sends Init and the frames kept for it. If the platform accepts no more sockets,
   * the connection is closed.
   *
   * @throws {connection/too_many} when the actor is at its limit
   * @throws {actor/destroyed} when the actor is destroyed meanwhile
   * @throws whatever `accept` throws
   */
  bind(connection: Connection, accept: (hibernates: boolean) => Socket): void {
    let socket: Socket | undefined;
    try {
      this.#checkOpen();
      this.#checkRoom();
      const attachment = connection.encode();
      socket = accept(connection.hibernates);
      socket.attach(attachment);
    } catch (error) {
      socket?.close(1011, "connection.lost");
      this.#activation.background.waitFor("The end of a connection", this.close(connection, LOST));
      throw error;
    }
    this.#changed.delete(connection);
    this.#bySocket.set(socket, connection);
    if (connection.kind === "socket") {
      socket.send(
        encodeFrame(connection, { tag: "Init", val: { actorId: this.actorId, connectionId: connection.id } }),
      );
    }
    connection.bind(socket);
  }

  /** Whether anything sees the connection of this caller before its own code asks for it. */
  isSeen({ kind, params }: Caller): boolean {
    return this.#isWatched || kind !== "call" || params !== undefined;
  }

  /** Serves a call as a connection of its own (CONN-2). Its reply does not wait for `onDisconnect`. */
  async during<T>(
    caller: Caller,
    admitted: Admitted | undefined,
    serve: (conn: () => ConnectionView) => Promise<T>,
  ): Promise<T> {
    if (!this.isSeen(caller)) {
      this.#checkOpen();
      return this.#unseen.during(() => new Connection(this, unnoticed(this.#activation, caller)), serve);
    }
    const connection = await this.open(caller, admitted);
    try {
      return await serve(() => connection.view);
    } finally {
      const end = { code: 1000, reason: "" };
      if (this.#activation.actor.config.onDisconnect)
        this.#activation.background.waitFor("The end of a call", this.close(connection, end));
      else this.#remove(connection);
    }
  }

  /** At a start: restores the connections of open sockets, without hooks, and finds the lost ones. */
  restore(rows: Iterable<readonly [key: string, bytes: Uint8Array]>, closing?: Socket): void {
    // The platform does not list the socket whose close started the actor.
    for (const socket of new Set([...this.#activation.ports.sockets(), ...(closing ? [closing] : [])])) {
      const { attachment } = socket;
      const connection = attachment && Connection.restore(this, attachment);
      if (connection) {
        this.#connections.set(connection.id, connection);
        this.#bySocket.set(socket, connection);
        connection.bind(socket);
        if (connection.kind === "raw") this.#restoredRaw.push(connection);
      } else socket.close(1011, "actor.restarting");
    }
    for (const [key, bytes] of rows) {
      const present = this.#connections.get(key.slice(KEYS.connections.length));
      if (present) {
        present.isStored = true;
        continue;
      }
      const lost = Connection.restore(this, bytes);
      if (!lost) this.#activation.delete(key);
      else this.#lost.add(lost);
    }
  }

  /** Once the actor serves: calls `onWebSocket` again for raw sockets that stayed open. */
  serveRestored(): void {
    const restored = this.#restoredRaw;
    this.#restoredRaw = [];
    for (const connection of restored) {
      const { request } = connection;
      serveRawSocket(
        this.#activation,
        connection,
        request && new Request(request.url, { headers: request.headers.map(([name, value]) => [name, value]) }),
      );
    }
  }

  /** Once the actor serves: calls `onDisconnect` for connections lost with an earlier activation. */
  callLostHooks(): void {
    this.#lost.callHooks(
      (lost) => this.#left(lost, LOST),
      (lost) => this.#store(lost),
      (lost) => {
        this.#activation.delete(KEYS.connection(lost.id));
        this.#activation.commitOrThrow();
      },
    );
  }

  // ---- end ---------------------------------------------------------------------------------------------------------

  /** Removes a connection and runs `onDisconnect`. Commits the hook's changes with the end. Errors of the hook are logged. */
  async close(connection: Connection, end: ConnectionEnd): Promise<void> {
    if (!this.#remove(connection)) return;
    await this.#left(connection, end);
  }

  /** A socket was closed by the other side or the network. */
  async closed(socket: Socket, end: ConnectionEnd): Promise<void> {
    const connection = this.#bySocket.get(socket);
    if (connection) return this.close(connection, end);
    const { attachment } = socket;
    const lost = attachment && this.#lost.take(Connection.restore(this, attachment)?.id);
    if (lost) await this.#left(lost, end);
  }

  /** Ends a connection from this side. Dirty changes are committed before the other side sees the close. */
  async disconnect(connection: Connection, end: ConnectionEnd): Promise<void> {
    if (!this.includes(connection)) return;
    this.#activation.commitOrThrow();
    const { socket } = connection;
    this.#remove(connection);
    // Its close event comes later, perhaps to another activation, and must be ignored.
    socket?.attach(ENDED);
    socket?.close(end.code, end.reason);
    const left = this.#left(connection, end);
    this.#activation.ports.waitUntil(left.catch(() => {}));
    await left;
  }

  /** Ends all connections, with the actor. Callers that are being admitted are refused. */
  async disconnectAll(end: ConnectionEnd): Promise<void> {
    this.#isClosed = true;
    this.#unseen.clear();
    const lost = await this.#lost.takeAll((each) => this.#store(each));
    const ends = [...this.#connections.values()].map((connection) => this.disconnect(connection, end));
    await Promise.all([...ends, ...lost.map((connection) => this.#left(connection, LOST))]);
  }

  /** Sends the client an error and ends its connection. */
  async fail(connection: Connection, error: ActorError, code = 1011): Promise<void> {
    const { group, code: name, message, metadata } = error;
    if (connection.kind === "socket")
      connection.send(
        encodeFrame(connection, { tag: "Error", val: { group, code: name, message, metadata, actionId: null } }),
      );
    await this.disconnect(connection, { code, reason: `${group}.${name}` });
  }

  // ---- events ------------------------------------------------------------------------------------------------------

  broadcast(name: string, args: readonly unknown[]): void {
    this.#events.broadcast(this.#connections.values(), name, args);
  }

  sendEvent(connection: Connection, name: string, args: readonly unknown[]): void {
    this.#events.send(connection, name, args);
  }

  /** A migration begins: events wait for its end. */
  hold(): void {
    this.#events.hold();
  }

  /** The migration has ended: sends the events if its changes are stored, and drops them if not. */
  release(isStored: boolean): void {
    this.#events.release(isStored);
  }

  // ---- stored data -------------------------------------------------------------------------------------------------

  isUnread(output: UnreadOutput, frame: Frame, socket: Socket): boolean {
    const { actor, ports } = this.#activation;
    const limit = Math.max(actor.options.maxUnreadBytes, 2 * actor.messageLimits.outgoing);
    return output.sent(sizeOf(frame), limit, ports.now(), socket.lastPingAt);
  }

  changed(connection: Connection): void {
    if (!this.includes(connection)) return;
    this.#changed.add(connection);
    this.#activation.changedSoon();
  }

  store(connection: Connection): void {
    if (this.includes(connection)) this.#changed.add(connection);
    this.#activation.commitOrThrow();
  }

  /** Before every commit: refreshes the attachments of changed connections and, with `onDisconnect`, their rows. */
  beforeCommit(): void {
    for (const connection of this.#changed) {
      this.#changed.delete(connection);
      const bytes = connection.encode();
      connection.state?.committed();
      connection.socket?.attach(bytes);
      if (connection.kind !== "call" && this.#activation.actor.config.onDisconnect) this.#store(connection);
    }
  }

  /** Before a commit that writes: stores rows, so that what `onConnect` of a call changed is followed by `onDisconnect`. */
  beforeWrite(): void {
    const { onConnect, onDisconnect } = this.#activation.actor.config;
    if (!onConnect || !onDisconnect) return;
    for (const connection of this.#connections.values()) if (!connection.isStored) this.#store(connection);
  }

  #store(connection: Connection): void {
    connection.isStored = true;
    this.#activation.put(KEYS.connection(connection.id), () => connection.encode());
  }

  /** @throws {connection/too_many} when the actor is at its limit */
  #checkRoom(): void {
    const limit = this.#activation.actor.options.maxConnections;
    if (this.#bySocket.size < limit) return;
    throw new ActorError("connection", "too_many", `This actor has reached its limit of ${limit} connections`, {
      metadata: { limit },
    });
  }

  /** @throws {actor/destroyed} when the actor is being destroyed; the reason, when the activation is over */
  #checkOpen(): void {
    this.#activation.abortSignal.throwIfAborted();
    if (this.#isClosed) throw destroyed();
  }

  // ---- hooks -------------------------------------------------------------------------------------------------------

  get #hasHooks(): boolean {
    const { onBeforeConnect, createConnState, onConnect, onDisconnect } = this.#activation.actor.config;
    return [onBeforeConnect, createConnState, onConnect, onDisconnect].some((hook) => hook !== undefined);
  }

  async #left(connection: Connection, end: ConnectionEnd): Promise<void> {
    const { config, options } = this.#activation.actor;
    await deliverClose(this.#activation, connection, end);
    try {
      await callConnectionHook(this.#activation, "onDisconnect", options.onConnectTimeout, {}, undefined, [
        connection.view,
        end,
      ]);
    } catch (error) {
      this.#activation.ports.log.error({ msg: "onDisconnect failed", stack: describe(error) });
    }
    // In one commit with the hook's changes: after a crash in the hook, the row brings it again.
    if (connection.isStored) this.#activation.delete(KEYS.connection(connection.id));
    if (config.onDisconnect || connection.isStored) this.#activation.commitOrThrow();
  }

  #remove(connection: Connection): boolean {
    this.#changed.delete(connection);
    if (connection.socket) this.#bySocket.delete(connection.socket);
    return this.#connections.delete(connection.id);
  }
}
