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

/** Bytes of a connection's encoded state; with the params and the subscriptions it must fit what a socket can carry. */
export const MAX_CONNECTION_STATE_BYTES = 8_000;
/** Bytes of a connection's encoded params, whichever way they came. */
/** Bytes of the names of a connection's events. All three together stay below the 16,384 that a socket carries. */
const MAX_EVENTS_BYTES = 3_500;

const STATE_KIND: StateKind = {
  what: "conn.state",
  limitBytes: MAX_CONNECTION_STATE_BYTES,
  storedLimitBytes: MAX_CONNECTION_STATE_BYTES + 200,
};

/** What kind of caller it is: one call over HTTP or the binding, a socket that speaks the protocol, or a raw socket. */
export type ConnectionKind = "call" | "socket" | "raw";

/** The request behind a raw socket, as far as its handler is told of it again after hibernation. */
export interface StoredRequest {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
}

/** The actor's end of a raw socket. */
export interface RawEnd {
  /** Whether anybody listens. */
  hears(type: "message" | "close"): boolean;
  /** The socket is closed; its close event follows. */
  ended(): void;
  deliver(
    event:
      | { readonly type: "message"; readonly data: string | ArrayBuffer }
      | { readonly type: "close"; readonly code: number; readonly reason: string; readonly wasClean: boolean },
  ): Promise<void>;
}

/** What is remembered of a connection beside its socket, and for those that are lost without a close. */
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
  /** Of a raw socket that hibernates. */
  readonly request?: StoredRequest;
  /** Its client pings after each mebibyte that it has received. */
  readonly pings?: boolean;
  /** How often `onDisconnect` was begun for it, where the object was cut off; absent: never. */
  readonly tries?: number;
}

/** What is known of a connection when it begins. */
export type NewConnection = Omit<StoredConnection, "actorId" | "state" | "events"> & {
  readonly events?: readonly string[];
};

/** A connection's state as it begins, and its encoding. */
export interface FirstState {
  readonly root: unknown;
  readonly stored: Uint8Array;
}

/** What a connection needs of the table it is in. */
export interface ConnectionOwner {
  readonly actorId: string;
  readonly stateOwner: Omit<StateOwner, "onDirty">;
  /** @throws actor/ended */
  checkAlive(): void;
  changed(connection: Connection): void;
  sendEvent(connection: Connection, name: string, args: readonly unknown[]): void;
  disconnect(connection: Connection, end: ConnectionEnd): Promise<void>;
  /** Takes note of a frame; true: the client has left too much unread for too long. */
  isUnread(output: UnreadOutput, frame: Frame, socket: Socket): boolean;
}

/** The end of a connection whose client does not read. */
const UNREAD: ConnectionEnd = { code: 1013, reason: "connection.unread" };

/** One admitted caller. What it is sent before its socket is there waits for it. */
export class Connection {
  readonly id: string;
  readonly kind: ConnectionKind;
  readonly encoding: Encoding;
  /** The client is our own: every kind of value may be sent to it. */
  readonly extended: boolean;
  readonly params: unknown;
  #state: StateTree | undefined;
  /** Names of the events that it is subscribed to. */
  readonly events: Set<string>;
  /** What user code sees: `c.conn`. */
  readonly view: ConnectionView;
  /** Frames are taken one after the other, also when looking at one takes a while. */
  inbox: Promise<unknown> = Promise.resolve();
  /** Whether its socket stays open while the actor hibernates. */
  readonly hibernates: boolean;
  readonly request: StoredRequest | undefined;
  /** Of a raw socket that is served. */
  raw: RawEnd | undefined;
  /** Settles when the handler of a raw socket has ended: whoever wants to hear its frames listens by then. */
  heard: Promise<unknown> = Promise.resolve();
  /** Its calls that have no answer yet. */
  readonly calls = new CallsInFlight();
  readonly #pings: boolean;
  readonly #unread = new UnreadOutput();
  /** Whether storage has a row of it. */
  isStored = false;
  /** See `StoredConnection`. */
  tries: number;
  readonly #owner: ConnectionOwner;
  /** A copy of the params, as they are remembered: what user code does to its own changes nothing that is stored. */
  readonly #params: unknown;
  #socket: Socket | undefined;
  #waiting: Frame[] = [];

  /** @throws request/too_large, value/not_serializable for params that a hook has changed */
  constructor(owner: ConnectionOwner, known: NewConnection, state?: FirstState) {
    const about = own(known);
    this.id = about.id;
    this.kind = about.kind;
    this.encoding = about.encoding;
    this.extended = about.extended;
    this.params = about.params;
    this.#params = rememberedParams(about.params);
    this.tries = about.tries ?? 0;
    this.hibernates = about.hibernates;
    this.request = about.request;
    this.#pings = about.pings ?? false;
    this.events = new Set(about.events);
    this.#owner = owner;
    this.#state = state && this.#liveState(state);
    this.view = new ConnectionView(this, owner, this.#state && this.createView());
  }

  /** The connection that was remembered; undefined for one of an earlier life of the key, or what cannot be read. */
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

  /** For an actor that declares no connection state: the first assignment begins one. */
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

  /** How user code sees its state. @throws actor/ended at a change, once the activation is over */
  createView(): StateView {
    return this.beginState().createView({ onWrite: () => this.#owner.checkAlive() });
  }

  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** From now on it is sent what it is to be sent. */
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

  /** @throws event/too_many_subscriptions */
  subscribe(name: string): void {
    if (this.events.has(name)) return;
    if (encodeValue([...this.events, name]).byteLength > MAX_EVENTS_BYTES) {
      throw new ActorError(
        "event",
        "too_many_subscriptions",
        `The names of a connection's events have at most ${MAX_EVENTS_BYTES} bytes`,
      );
    }
    this.events.add(name);
  }

  unsubscribe(name: string): void {
    this.events.delete(name);
  }

  /** What is remembered of it. Throws only for what was written into its state through references. */
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

/** @throws request/too_large */
export function checkParamsSize(bytes: Uint8Array): void {
  if (bytes.byteLength <= MAX_CONNECTION_PARAMS_BYTES) return;
  throw new ActorError("request", "too_large", `Connection params have at most ${MAX_CONNECTION_PARAMS_BYTES} bytes`, {
    metadata: { limitBytes: MAX_CONNECTION_PARAMS_BYTES },
  });
}

function rememberedParams(params: unknown): unknown {
  if (typeof params !== "object" || params === null) return params;
  const bytes = encodeValue(params, { what: "conn.params" });
  checkParamsSize(bytes);
  // Remembered are they inside a row.
  measure(params, 1, MAX_CONNECTION_PARAMS_BYTES, { what: "conn.params" });
  return decodeValue(bytes);
}

/** `c.conn`, and what is in `c.conns`. */
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
