import {
  ActorError,
  decodeValue,
  encodeValue,
  measure,
  type Encoding,
  type Frame,
  own,
  decodeRow,
  MAX_CONNECTION_PARAMS_BYTES,
} from "../../protocol/index.js";
import { CallsInFlight } from "./calls-in-flight.js";
import type { ConnectionEnd, Socket } from "../ports.js";
import { UnreadOutput } from "./unread-output.js";
import { StateTree, type StateKind, type StateOwner } from "../state/state-tree.js";
import type { StateView } from "../state/state-view.js";

/** Bytes of a connection's encoded state. State, params and event names must fit in a socket's 16,384 bytes. */
export const MAX_CONNECTION_STATE_BYTES = 8_000;
/** Bytes of the names of the events that a connection is subscribed to. */
const MAX_EVENTS_BYTES = 3_500;

const STATE_KIND: StateKind = {
  what: "conn.state",
  limitBytes: MAX_CONNECTION_STATE_BYTES,
  storedLimitBytes: MAX_CONNECTION_STATE_BYTES + 200,
};

/** One call over HTTP or the binding, a socket that speaks the protocol, or a raw socket. */
export type ConnectionKind = "call" | "socket" | "raw";

/** The request of a raw socket, as stored for its handler after hibernation. */
export interface StoredRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
}

/** The actor's end of a raw socket. */
export interface RawEnd {
  /** Whether it has a listener for the event. */
  hears(type: "message" | "close"): boolean;
  /** Marks the socket as closed, before its close event. */
  ended(): void;
  deliver(
    event:
      | { readonly type: "message"; readonly data: string | ArrayBuffer }
      | { readonly type: "close"; readonly code: number; readonly reason: string; readonly wasClean: boolean },
  ): Promise<void>;
}

/** What a socket's attachment, and the row of a connection, hold. */
interface StoredConnection {
  readonly actorId: string;
  readonly id: string;
  readonly kind: ConnectionKind;
  readonly encoding: Encoding;
  readonly extended: boolean;
  readonly params: unknown;
  /** Absent if the actor has no connection state. */
  readonly state?: Uint8Array;
  readonly events: readonly string[];
  /** Whether its socket stays open while the actor hibernates. */
  readonly hibernates: boolean;
  /** Present for a raw socket that hibernates. */
  readonly request?: StoredRequest;
  /** Whether its client pings after each mebibyte it has received. */
  readonly pings?: boolean;
  /** How often a crash has interrupted its `onDisconnect`. Absent if never. */
  readonly tries?: number;
}

/** What is known of a connection at its start. */
export type NewConnection = Omit<StoredConnection, "actorId" | "state" | "events"> & {
  readonly events?: readonly string[];
};

/** A connection's first state and its encoding. */
export interface FirstState {
  readonly root: unknown;
  readonly stored: Uint8Array;
}

/** What a connection needs of its table. */
export interface ConnectionOwner {
  readonly actorId: string;
  readonly stateOwner: Omit<StateOwner, "onDirty">;
  /** @throws {actor/ended} when the activation is over */
  checkAlive(): void;
  changed(connection: Connection): void;
  sendEvent(connection: Connection, name: string, args: readonly unknown[]): void;
  disconnect(connection: Connection, end: ConnectionEnd): Promise<void>;
  /** Counts a frame. Returns true if the client has left too much unread for too long. */
  isUnread(output: UnreadOutput, frame: Frame, socket: Socket): boolean;
}

/** How a connection ends whose client does not read. */
const UNREAD: ConnectionEnd = { code: 1013, reason: "connection.unread" };

/** One admitted caller. Frames sent before its socket is bound are kept for it. */
export class Connection {
  readonly id: string;
  readonly kind: ConnectionKind;
  readonly encoding: Encoding;
  /** Whether the client is Perdure's own, which accepts every kind of value. */
  readonly extended: boolean;
  readonly params: unknown;
  #state: StateTree | undefined;
  /** The names of the events it is subscribed to. */
  readonly events: Set<string>;
  /** What user code sees: `c.conn`. */
  readonly view: ConnectionView;
  /** Serves frames one by one, in order, even if handling one is asynchronous. */
  inbox: Promise<unknown> = Promise.resolve();
  /** Whether its socket stays open while the actor hibernates. */
  readonly hibernates: boolean;
  readonly request: StoredRequest | undefined;
  /** The actor's end of a raw socket, once it is served. */
  raw: RawEnd | undefined;
  /** Settles when the handler of a raw socket has ended. It has added its listeners by then. */
  heard: Promise<unknown> = Promise.resolve();
  readonly calls = new CallsInFlight();
  readonly #pings: boolean;
  readonly #unread = new UnreadOutput();
  /** Whether it has a stored row. */
  isStored = false;
  /** See `StoredConnection`. */
  tries: number;
  readonly #owner: ConnectionOwner;
  /** A copy for storage, which user code cannot change. */
  readonly #params: unknown;
  #socket: Socket | undefined;
  #waiting: Frame[] = [];

  /**
   * @throws {request/too_large} when the params are too large
   * @throws {value/not_serializable} when a hook has made the params unserializable
   */
  constructor(owner: ConnectionOwner, known: NewConnection, state?: FirstState) {
    const about = own(known);
    this.id = about.id;
    this.kind = about.kind;
    this.encoding = about.encoding;
    this.extended = about.extended;
    this.params = about.params;
    this.#params = storableParams(about.params);
    this.tries = about.tries ?? 0;
    this.hibernates = about.hibernates;
    this.request = about.request;
    this.#pings = about.pings ?? false;
    this.events = new Set(about.events);
    this.#owner = owner;
    this.#state = state && this.#liveState(state);
    this.view = new ConnectionView(this, owner, this.#state && this.createView());
  }

  /** The stored connection. Undefined if it belongs to an earlier generation of the key, or cannot be read. */
  static restore(owner: ConnectionOwner, bytes: Uint8Array): Connection | undefined {
    try {
      const { actorId, state, ...about } = decodeRow(bytes) as StoredConnection;
      if (actorId !== owner.actorId) return undefined;
      return new Connection(owner, about, state && { root: decodeValue(state), stored: state });
    } catch {
      return undefined;
    }
  }

  get state(): StateTree | undefined {
    return this.#state;
  }

  /** Creates the state if there is none: without declared connection state, the first assignment does. */
  beginState(): StateTree {
    this.#state ??= this.#liveState({ root: undefined, stored: encodeValue(undefined) });
    return this.#state;
  }

  #liveState({ root, stored }: FirstState): StateTree {
    return new StateTree(
      root,
      stored,
      { ...this.#owner.stateOwner, onDirty: () => this.#owner.changed(this) },
      STATE_KIND,
    );
  }

  /** The state as user code sees it. Changing it throws `actor/ended` once the activation is over. */
  createView(): StateView {
    return this.beginState().createView({ onWrite: () => this.#owner.checkAlive() });
  }

  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** Binds the socket and sends the frames that were kept for it. */
  bind(socket: Socket): void {
    this.#socket = socket;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const frame of waiting) socket.send(frame);
  }

  send(frame: Frame): void {
    if (!this.#socket) this.#waiting.push(frame);
    else if (this.#pings && this.#owner.isUnread(this.#unread, frame, this.#socket))
      void this.#owner.disconnect(this, UNREAD).catch(() => {});
    else this.#socket.send(frame);
  }

  /** @throws {event/too_many_subscriptions} when the names of its events are too long together */
  subscribe(name: string): void {
    if (this.events.has(name)) return;
    if (encodeValue([...this.events, name]).byteLength > MAX_EVENTS_BYTES) {
      throw new ActorError(
        "event",
        "too_many_subscriptions",
        `The names of a connection's events must have at most ${MAX_EVENTS_BYTES} bytes together`,
      );
    }
    this.events.add(name);
  }

  unsubscribe(name: string): void {
    this.events.delete(name);
  }

  /** Encodes it for storage. Throws only if its state was changed past the checks, through a kept reference. */
  encode(): Uint8Array<ArrayBuffer> {
    const state = this.state?.encode();
    const stored: StoredConnection = {
      actorId: this.#owner.actorId,
      id: this.id,
      kind: this.kind,
      encoding: this.encoding,
      extended: this.extended,
      params: this.#params,
      ...(state && { state }),
      events: [...this.events],
      hibernates: this.hibernates,
      ...(this.request && { request: this.request }),
      ...(this.#pings && { pings: true }),
      ...(this.tries > 0 && { tries: this.tries }),
    };
    return encodeValue(stored, { what: "connection" });
  }
}

/** @throws {request/too_large} when the params are too large */
export function checkParamsSize(bytes: Uint8Array): void {
  if (bytes.byteLength <= MAX_CONNECTION_PARAMS_BYTES) return;
  throw new ActorError(
    "request",
    "too_large",
    `Connection params must have at most ${MAX_CONNECTION_PARAMS_BYTES} bytes`,
    {
      metadata: { limitBytes: MAX_CONNECTION_PARAMS_BYTES },
    },
  );
}

function storableParams(params: unknown): unknown {
  if (typeof params !== "object" || params === null) return params;
  const bytes = encodeValue(params, { what: "conn.params" });
  checkParamsSize(bytes);
  // A row nests them one level deeper.
  measure(params, 1, MAX_CONNECTION_PARAMS_BYTES, { what: "conn.params" });
  return decodeValue(bytes);
}

/** `c.conn`, and each value of `c.conns`. */
export class ConnectionView {
  readonly id: string;
  readonly params: unknown;
  readonly #connection: Connection;
  readonly #owner: ConnectionOwner;
  #state: StateView | undefined;

  constructor(connection: Connection, owner: ConnectionOwner, state: StateView | undefined) {
    this.id = connection.id;
    this.params = connection.params;
    this.#connection = connection;
    this.#owner = owner;
    this.#state = state;
  }

  get isHibernatable(): boolean {
    return this.#connection.hibernates;
  }

  get state(): unknown {
    return this.#view().value;
  }
  set state(value: unknown) {
    this.#state ??= this.#connection.createView();
    this.#state.value = value;
  }

  send(name: string, ...args: unknown[]): void {
    this.#owner.sendEvent(this.#connection, name, args);
  }

  disconnect(reason?: string): Promise<void> {
    return this.#owner.disconnect(this.#connection, { code: 1000, reason: reason ?? "" });
  }

  #view(): StateView {
    if (this.#state) return this.#state;
    throw new ActorError(
      "actor",
      "conn_state_not_enabled",
      "Connection state not enabled. Must implement `connState` or `createConnState` to use it, or assign `conn.state` first",
    );
  }
}
