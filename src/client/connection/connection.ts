/**
 * A connection to an actor: carries out what `connection-state.ts` decides.
 *
 * Owns the socket, the timer, the calls and the listeners of one connection. Does not own the decision to reconnect.
 * Events are handled one at a time: what a listener does (call, subscribe, dispose) takes effect after the effects in
 * progress.
 */
import {
  ActorError,
  fromErrorData,
  PING,
  parseActorId,
  PONG,
  type Frame,
  type ToClient,
  type ToServer,
  type WireCodec,
} from "../../protocol/page.js";
import { ConnectionCalls } from "./connection-calls.js";
import { getParamsFailed, openFailed } from "./connection-errors.js";
import {
  advance,
  newConnection,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
  type ConnStatus,
} from "./connection-state.js";
import type { ConnectionPorts } from "./connection-ports.js";
import { copyOf, type ClientCodec } from "../config/client-codec.js";
import { ConnectionTimer } from "./connection-timer.js";
import { MalformedResponseMessage } from "../config/errors.js";
import { callSafely, Listeners, type Unsubscribe } from "./listeners.js";
import { Opening } from "./opening.js";
import { holdSocket, type ClientSocket, type HeldSocket } from "../config/socket.js";
import { Subscriptions } from "./subscriptions.js";

export interface ConnectionOptions {
  /** Loaded once `openSocket` has resolved. */
  readonly codec: ClientCodec;
  /** The name of the other end in errors. */
  readonly place: string;
  /** Whether connecting creates the actor if it does not exist. */
  readonly creates: boolean;
  /** Makes the params of each attempt. */
  getParams(): unknown;
  openSocket(params: unknown): Promise<ClientSocket>;
  /** How long a call may take, in ms, including its wait for the connection; undefined: no limit. */
  readonly callTimeoutMs: number | undefined;
  /** After how much silence an open connection pings the server, in ms; undefined: never. */
  readonly pingIntervalMs: number | undefined;
  onDisposed(): void;
}

/** How many bytes are received before a ping tells the server that they were read. */
const PING_AFTER_BYTES = 1_048_576;

/** The server is Perdure, which reads every kind of value. */
const EXTENDED = { extended: true };

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #ports: ConnectionPorts;
  readonly #calls: ConnectionCalls;
  readonly #subscriptions = new Subscriptions((event, isSubscribed) => this.#subscribe(event, isSubscribed));
  readonly #onOpen = new Listeners<[]>();
  readonly #onClose = new Listeners<[]>();
  readonly #onError = new Listeners<[ActorError]>();
  readonly #onStatusChange = new Listeners<[ConnStatus]>();
  readonly #events: ConnectionEvent[] = [];
  #isRunning = false;
  #state: ConnectionState;
  #status: ConnStatus = "idle";
  /** From the call of the open listeners until that of the close listeners. */
  #isToldOpen = false;
  #socket: HeldSocket | undefined;
  readonly #timer: ConnectionTimer;
  #opening = new Opening();
  /** Bytes received since the last ping that told the server they were read. */
  #unacknowledged = 0;
  /** The params of the newest attempt. */
  #params: unknown;

  constructor(options: ConnectionOptions, ports: ConnectionPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#calls = new ConnectionCalls(ports.setTimer, () =>
      this.#isOpen ? (encoded: Frame): void => this.#send(encoded) : undefined,
    );
    this.#timer = new ConnectionTimer(ports, options.pingIntervalMs);
    this.#state = newConnection(options.creates, options.pingIntervalMs !== undefined);
    this.#dispatch({ type: "connect" });
  }

  get status(): ConnStatus {
    return this.#status;
  }

  get actorId(): string | undefined {
    return this.#state.actorId;
  }

  get connId(): string | undefined {
    return this.#state.connId;
  }

  get params(): unknown {
    return this.#params;
  }

  /** Resolves once the connection is open; rejects when no attempt follows. */
  get ready(): Promise<void> {
    return this.#opening.promise;
  }

  on(event: string, listener: (...args: never[]) => void, isOnce: boolean): Unsubscribe {
    return this.#subscriptions.add(event, listener, isOnce);
  }

  onOpen(listener: () => void): Unsubscribe {
    let isWanted = this.#isToldOpen;
    const remove = this.#onOpen.add(listener);
    if (isWanted) queueMicrotask(() => isWanted && callSafely(listener, []));
    return () => {
      isWanted = false;
      remove();
    };
  }

  onClose(listener: () => void): Unsubscribe {
    return this.#onClose.add(listener);
  }

  onError(listener: (error: ActorError) => void): Unsubscribe {
    return this.#onError.add(listener);
  }

  onStatusChange(listener: (status: ConnStatus) => void): Unsubscribe {
    return this.#onStatusChange.add(listener);
  }

  /** Calls an action over the socket, or queues the call until there is one. */
  call(action: string, args: readonly unknown[], signal: AbortSignal | undefined): Promise<unknown> {
    const { stoppedBy, actorId } = this.#state;
    if (stoppedBy !== undefined) return Promise.reject(stoppedBy);
    const encode = (id: bigint, given: unknown[]): Frame =>
      this.#encode({ tag: "ActionRequest", val: { id, name: action, args: given } });
    const frame = (id: bigint): (() => Frame) => {
      const held = this.#options.codec.loaded ? encode(id, [...args]) : copyOf([...args]);
      return () => (Array.isArray(held) ? encode(id, held) : held);
    };
    return this.#calls.make({ action, actorId, signal, timeoutMs: this.#options.callTimeoutMs, frame });
  }

  reconnect(): void {
    // A listener called with "disconnected" could not know that this is the end.
    if (this.#state.phase === "disposed" && !this.#isRunning) throw this.#state.stoppedBy;
    this.#dispatch({ type: "reconnect" });
  }

  dispose(): void {
    this.#dispatch({ type: "dispose" });
  }

  get #isOpen(): boolean {
    return this.#state.phase === "open";
  }

  #dispatch(event: ConnectionEvent): void {
    this.#events.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        const [state, effects] = advance(this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#carryOut(effect);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #carryOut(effect: ConnectionEffect): void {
    switch (effect.do) {
      case "getParams":
        return void this.#getParams(effect.attempt);
      case "openSocket":
        return void this.#openSocket(effect.attempt, effect.params);
      case "closeSocket":
        this.#socket?.close(effect.code, effect.reason);
        this.#socket = undefined;
        return;
      case "startTimer":
        return this.#timer.start(effect, () =>
          this.#dispatch({
            type: "due",
            attempt: effect.attempt,
            openFailed: openFailed(this.#options.place),
            at: this.#ports.now(),
          }),
        );
      case "stopTimer":
        return this.#timer.stop();
      case "ping":
        return this.#send(PING);
      case "resume":
        for (const event of this.#subscriptions.events) this.#subscribe(event, true);
        this.#calls.flush(effect.actorId);
        return this.#opening.resolve();
      case "rejectSent":
        this.#renewOpening();
        return this.#calls.rejectSent(effect.cause);
      case "rejectWaiting":
        return this.#calls.rejectAll(effect.error);
      case "rejectAll":
        return this.#rejectAll(effect.error);
      case "status":
        return this.#changeStatus(effect.status);
      case "tellOpen":
        this.#isToldOpen = true;
        return this.#onOpen.tell();
      case "tellClose":
        this.#isToldOpen = false;
        return this.#onClose.tell();
      case "tellError":
        return this.#onError.tell(effect.error);
    }
  }

  async #getParams(attempt: number): Promise<void> {
    let params: unknown;
    try {
      // Never in the turn of connect(), so that its caller can add listeners first.
      await undefined;
      params = await this.#options.getParams();
    } catch (cause) {
      return this.#dispatch({ type: "paramsFailed", attempt, error: getParamsFailed(cause) });
    }
    if (attempt === this.#state.attempt) this.#params = params;
    this.#dispatch({ type: "paramsReady", attempt, params });
  }

  async #openSocket(attempt: number, params: unknown): Promise<void> {
    let socket: ClientSocket;
    try {
      socket = await this.#options.openSocket(params);
    } catch (cause) {
      // Code that could not be loaded may be there at the next attempt, as a server may.
      const isReason = ActorError.isActorError(cause) && cause.code !== "network_error";
      const error = isReason ? cause : openFailed(this.#options.place, cause);
      return this.#dispatch({ type: "broken", attempt, error, at: this.#ports.now() });
    }
    const held = holdSocket(socket, {
      onMessage: (data) => this.#receive(attempt, data),
      onClose: (code, reason) => {
        if (this.#socket === held) this.#socket = undefined;
        this.#dispatch({
          type: "closed",
          attempt,
          code,
          reason,
          openFailed: openFailed(this.#options.place),
          at: this.#ports.now(),
        });
      },
    });
    const { phase, attempt: newest } = this.#state;
    if (phase === "opening" && attempt === newest) this.#socket = held;
    else held.close(1000, "");
  }

  #receive(attempt: number, data: string | ArrayBuffer): void {
    const at = this.#ports.now();
    this.#dispatch({ type: "heard", attempt, at });
    this.#tellRead(typeof data === "string" ? data.length : data.byteLength);
    if (data === PONG) return;
    let message: ToClient;
    try {
      message = this.#codec.toClient.decode(data);
    } catch (cause) {
      const error = new MalformedResponseMessage(this.#options.place, 101, { cause });
      return this.#dispatch({ type: "broken", attempt, error, at });
    }
    if (message.tag !== "Init" && message.tag !== "Error" && !this.#isOpen) return;
    switch (message.tag) {
      case "Init":
        return this.#dispatch({
          type: "init",
          attempt,
          actorId: message.val.actorId,
          connId: message.val.connectionId,
          at,
        });
      case "Error":
        if (message.val.actionId === null)
          return this.#dispatch({ type: "errorFrame", attempt, error: fromErrorData(message.val), at });
        return this.#calls.reject(message.val.actionId, fromErrorData(message.val));
      case "ActionResponse":
        return this.#calls.resolve(message.val.id, message.val.output);
      case "Event":
        return this.#subscriptions.tell(message.val.name, message.val.args);
    }
  }

  /** Sent on receipt: a client that only listens sends nothing else, and timers of background tabs are throttled. */
  #tellRead(size: number): void {
    this.#unacknowledged += size;
    const { actorId } = this.#state;
    if (
      this.#unacknowledged < PING_AFTER_BYTES ||
      !this.#isOpen ||
      actorId === undefined ||
      parseActorId(actorId) === undefined
    )
      return;
    this.#unacknowledged = 0;
    this.#send(PING);
  }

  #subscribe(eventName: string, subscribe: boolean): void {
    if (this.#isOpen) this.#send(this.#encode({ tag: "SubscriptionRequest", val: { eventName, subscribe } }));
  }

  #encode(message: ToServer): Frame {
    return this.#codec.toServer.encode(message, EXTENDED);
  }

  get #codec(): WireCodec {
    const { loaded } = this.#options.codec;
    if (loaded === undefined) throw new Error("A socket was opened before its codec was loaded");
    return loaded;
  }

  #send(frame: Frame): void {
    this.#socket?.send(frame);
  }

  #rejectAll(error: ActorError): void {
    this.#renewOpening();
    this.#opening.reject(error);
    this.#calls.rejectAll(error);
    if (this.#state.phase === "disposed") this.#options.onDisposed();
  }

  #changeStatus(status: ConnStatus): void {
    if (status === "connecting") this.#renewOpening();
    this.#status = status;
    this.#onStatusChange.tell(status);
  }

  /** Starts a new promise for the next opening. */
  #renewOpening(): void {
    if (this.#opening.isSettled) this.#opening = new Opening();
  }
}
