/**
 * The life of a connection as a pure function: an event goes in, the next state and a list of effects come out.
 *
 * Owns whether there is a socket, when the next attempt begins, and what ends all attempts. Does not own calls,
 * listeners, the socket, the timer or the clock: `connection.ts` carries out the effects, in their order.
 *
 * 1. There is a socket only while "opening" or "open", and never two: `closeSocket` or the socket's own end comes first.
 * 2. There is a timer only while "opening" (the first message is late) or "waiting" (the next attempt), and while "open"
 *    if silence is watched.
 * 3. An event of an older attempt changes nothing.
 * 4. After "disposed" nothing happens; after "stopped" only `reconnect` and `dispose` have an effect.
 */
import { parseActorId, type ActorError } from "../../protocol/page.js";
import { ActorConnDisposed, closeError, connectionLost, isFinal, isTransient } from "./connection-errors.js";

/** The status users see. */
export type ConnStatus = "idle" | "connecting" | "connected" | "disconnected";

export interface ConnectionState {
  readonly phase: "new" | "params" | "opening" | "open" | "waiting" | "stopped" | "disposed";
  /** Whether connecting creates the actor if it does not exist. */
  readonly creates: boolean;
  /** Whether a silent server is pinged. */
  readonly asks: boolean;
  /** The number of the newest attempt. */
  readonly attempt: number;
  /** Attempts in a row that failed or were short-lived. */
  readonly failures: number;
  /** Whether it was open since it was created or last reconnected by its user. */
  readonly hasConnected: boolean;
  /** Epoch ms of the last opening. */
  readonly openedAt: number;
  /** The id of the actor, now or last. */
  readonly actorId: string | undefined;
  /** While open. */
  readonly connId: string | undefined;
  /**
   * While open, and asking: when something last came since the timer began, and how often it was asked in vain before.
   */
  readonly watch: { readonly heardAt: number | undefined; readonly asked: number } | undefined;
  /** The last error the server sent for this connection while it was open. */
  readonly told: ActorError | undefined;
  /** Why no call can be made: while "stopped" or "disposed". */
  readonly stoppedBy: ActorError | undefined;
}

export type ConnectionEvent =
  | { readonly type: "connect" }
  | { readonly type: "paramsReady"; readonly attempt: number; readonly params: unknown }
  | { readonly type: "paramsFailed"; readonly attempt: number; readonly error: ActorError }
  /** The server's first message. */
  | {
      readonly type: "init";
      readonly attempt: number;
      readonly actorId: string;
      readonly connId: string;
      readonly at: number;
    }
  /** Any frame, including the answer to a ping. */
  | { readonly type: "heard"; readonly attempt: number; readonly at: number }
  /** An error of the connection, not of one call. */
  | { readonly type: "errorFrame"; readonly attempt: number; readonly error: ActorError; readonly at: number }
  /** There is no usable socket: it could not be created, or a message could not be decoded. */
  | { readonly type: "broken"; readonly attempt: number; readonly error: ActorError; readonly at: number }
  /** The socket's end. `openFailed` is the error of one that ended without a reason. */
  | {
      readonly type: "closed";
      readonly attempt: number;
      readonly code: number;
      readonly reason: string;
      readonly openFailed: ActorError;
      readonly at: number;
    }
  /** The timer. `openFailed` as in "closed". */
  | { readonly type: "due"; readonly attempt: number; readonly openFailed: ActorError; readonly at: number }
  | { readonly type: "reconnect" }
  | { readonly type: "dispose" };

export type ConnectionEffect =
  | { readonly do: "getParams"; readonly attempt: number }
  | { readonly do: "openSocket"; readonly attempt: number; readonly params: unknown }
  | { readonly do: "closeSocket"; readonly code: number; readonly reason: string }
  /**
   * Replaces the timer. "retry" has a delay that grows with the failures; "silence" and "answer" hold no process up.
   * `since`: the silence began then, not now.
   */
  | {
      readonly do: "startTimer";
      readonly timer: "open" | "retry" | "silence" | "answer";
      readonly attempt: number;
      readonly failures: number;
      readonly since?: number;
    }
  | { readonly do: "stopTimer" }
  | { readonly do: "ping" }
  /** The connection is open: subscribe, then send the waiting calls. */
  | { readonly do: "resume"; readonly actorId: string }
  /** Sent calls will get no answer. */
  | { readonly do: "rejectSent"; readonly cause: ActorError | undefined }
  /** Calls do not wait for another attempt. */
  | { readonly do: "rejectWaiting"; readonly error: ActorError }
  | { readonly do: "rejectAll"; readonly error: ActorError }
  | { readonly do: "status"; readonly status: ConnStatus }
  | { readonly do: "tellOpen" }
  | { readonly do: "tellClose" }
  | { readonly do: "tellError"; readonly error: ActorError };

export type Step = readonly [state: ConnectionState, effects: readonly ConnectionEffect[]];

/** Twice, since an answer that is here may be read only after the timer of a process that was held up. */
const MAX_ASKS = 2;

/** A connection that lasted this long does not count as a failure. */
const STABLE_MS = 5_000;

export const CLOSE_DISPOSED = { code: 1000, reason: "Disposed" };
/** Clients may close with 1000, or with codes from 3000 on. */
const CLOSE_BROKEN = { code: 4002, reason: "encoding.invalid" };
const CLOSE_LATE = { code: 4008, reason: "client.connection_open_failed" };
const CLOSE_SILENT = { code: 4008, reason: "client.connection_lost" };
/** The server has announced the end; its own close may come later. */
const CLOSE_REFUSED = { code: 1000, reason: "" };

export function newConnection(creates: boolean, asks = false): ConnectionState {
  return {
    phase: "new",
    creates,
    asks,
    attempt: 0,
    failures: 0,
    hasConnected: false,
    openedAt: 0,
    actorId: undefined,
    connId: undefined,
    watch: undefined,
    told: undefined,
    stoppedBy: undefined,
  };
}

export function statusOf({ phase }: ConnectionState): ConnStatus {
  if (phase === "params" || phase === "opening") return "connecting";
  if (phase === "open") return "connected";
  return phase === "waiting" ? "disconnected" : "idle";
}

export function advance(state: ConnectionState, event: ConnectionEvent): Step {
  if ("attempt" in event && event.attempt !== state.attempt) return [state, []];
  switch (event.type) {
    case "connect":
      return state.phase === "new" ? begin(state) : [state, []];
    case "paramsReady":
      return state.phase === "params" ? openWith(state, event.params) : [state, []];
    case "paramsFailed":
      return state.phase === "params" ? withoutParams(state, event.error) : [state, []];
    case "init":
      return state.phase === "opening" ? opened(state, event) : [state, []];
    case "heard":
      return heard(state, event.at);
    case "errorFrame":
      return refused(state, event);
    case "broken":
      return ended(state, event.error, event.at, CLOSE_BROKEN);
    case "closed":
      return socketClosed(state, event);
    case "due":
      return timerFired(state, event);
    case "reconnect":
      return beginByHand(state);
    case "dispose":
      return dispose(state);
  }
}

function begin(state: ConnectionState): Step {
  const attempt = state.attempt + 1;
  return [
    { ...state, phase: "params", attempt },
    [
      { do: "status", status: "connecting" },
      { do: "getParams", attempt },
    ],
  ];
}

/** Ends a wait. A stopped connection begins as if it had never been open. */
function beginByHand(state: ConnectionState): Step {
  if (state.phase === "waiting") {
    const [next, effects] = begin(state);
    return [next, [{ do: "stopTimer" }, ...effects]];
  }
  return state.phase === "stopped"
    ? begin({ ...state, failures: 0, hasConnected: false, stoppedBy: undefined })
    : [state, []];
}

function openWith(state: ConnectionState, params: unknown): Step {
  const { attempt, failures } = state;
  return [
    { ...state, phase: "opening" },
    [
      { do: "startTimer", timer: "open", attempt, failures },
      { do: "openSocket", attempt, params },
    ],
  ];
}

function opened(state: ConnectionState, { actorId, connId, at }: Extract<ConnectionEvent, { type: "init" }>): Step {
  // Servers with other ids do not know pings: to them, one is a malformed frame.
  const watch = state.asks && parseActorId(actorId) !== undefined ? WATCHED : undefined;
  const { attempt, failures } = state;
  return [
    { ...state, phase: "open", hasConnected: true, openedAt: at, actorId, connId, watch, told: undefined },
    [
      { do: "stopTimer" },
      { do: "resume", actorId },
      { do: "status", status: "connected" },
      { do: "tellOpen" },
      ...(watch === undefined ? [] : [{ do: "startTimer", timer: "silence", attempt, failures } as const]),
    ],
  ];
}

const WATCHED = { heardAt: undefined, asked: 0 };

/** The server is alive. Usually this is only recorded, for the timer to read. */
function heard(state: ConnectionState, at: number): Step {
  const { watch, attempt, failures } = state;
  if (watch === undefined) return [state, []];
  if (watch.asked === 0) return [{ ...state, watch: { ...watch, heardAt: at } }, []];
  return [{ ...state, watch: WATCHED }, [{ do: "startTimer", timer: "silence", attempt, failures }]];
}

/**
 * If nothing came since the timer began, pings the server, and finally gives it up; otherwise waits from the last frame
 * on.
 */
function silent(state: ConnectionState, { heardAt, asked }: NonNullable<ConnectionState["watch"]>, at: number): Step {
  const { attempt, failures } = state;
  if (heardAt !== undefined)
    return [{ ...state, watch: WATCHED }, [{ do: "startTimer", timer: "silence", attempt, failures, since: heardAt }]];
  if (asked === MAX_ASKS) return lost(state, connectionLost(), at, CLOSE_SILENT);
  return [
    { ...state, watch: { heardAt, asked: asked + 1 } },
    [{ do: "ping" }, { do: "startTimer", timer: "answer", attempt, failures }],
  ];
}

/** On an open connection most errors are reports, such as a refused subscription; others announce the end. */
function refused(state: ConnectionState, { error, at }: Extract<ConnectionEvent, { type: "errorFrame" }>): Step {
  if (state.phase !== "open" || isGoodbye(state, error)) return ended(state, error, at, CLOSE_REFUSED);
  return [{ ...state, told: error }, [{ do: "tellError", error }]];
}

/** Whether the server will close, which may take a while. */
function isGoodbye(state: ConnectionState, error: ActorError): boolean {
  const isOurFault = error.group === "message" || (error.group === "actor" && error.code === "invalid_request");
  return isOurFault || isTransient(error, state.creates) || isFinal({ ...state, error, wasOpen: true });
}

function socketClosed(
  state: ConnectionState,
  { code, reason, openFailed, at }: Extract<ConnectionEvent, { type: "closed" }>,
): Step {
  const said = closeError(code, reason);
  // Its Error frame has more information than the close reason.
  const error = said !== undefined && isSame(said, state.told) ? state.told : said;
  return state.phase === "open" ? lost(state, error, at, undefined) : ended(state, error ?? openFailed, at, undefined);
}

function timerFired(state: ConnectionState, { openFailed, at }: Extract<ConnectionEvent, { type: "due" }>): Step {
  if (state.phase === "waiting") return begin(state);
  if (state.watch !== undefined) return silent(state, state.watch, at);
  return state.phase === "opening" ? failed(state, openFailed, CLOSE_LATE) : [state, []];
}

function isSame(error: ActorError, other: ActorError | undefined): boolean {
  return error.group === other?.group && error.code === other.code;
}

type Close = { readonly code: number; readonly reason: string };

function ended(state: ConnectionState, error: ActorError, at: number, close: Close | undefined): Step {
  if (state.phase === "open") return lost(state, error, at, close);
  return state.phase === "opening" ? failed(state, error, close) : [state, []];
}

/** The next attempt calls `getParams` again; waiting calls are rejected now. */
function withoutParams(state: ConnectionState, error: ActorError): Step {
  const [next, effects] = failed(state, error, undefined);
  return [next, next.phase === "waiting" ? [...effects, { do: "rejectWaiting", error }] : effects];
}

/** An attempt has failed. */
function failed(state: ConnectionState, error: ActorError, close: Close | undefined): Step {
  const before: ConnectionEffect[] = state.phase === "opening" ? [{ do: "stopTimer" }, ...closing(close)] : [];
  const failures = state.failures + 1;
  const isOver = isFinal({ ...state, error, failures, wasOpen: false });
  const [next, effects] = isOver ? stop(state, error) : wait({ ...state, failures });
  const waits: ConnectionEffect[] = isOver ? [] : [{ do: "status", status: "disconnected" }];
  return [next, [...before, { do: "tellError", error }, ...waits, ...effects]];
}

/** An open connection has ended. */
function lost(state: ConnectionState, error: ActorError | undefined, at: number, close: Close | undefined): Step {
  const failures = at - state.openedAt >= STABLE_MS ? 1 : state.failures + 1;
  const left = { ...state, connId: undefined, watch: undefined, failures };
  const isOver = error !== undefined && isFinal({ ...left, error, wasOpen: true });
  const [next, effects] = isOver ? stop(left, error) : wait(left);
  return [
    next,
    [
      ...(state.watch === undefined ? [] : [{ do: "stopTimer" } as const]),
      ...closing(close),
      { do: "rejectSent", cause: error },
      { do: "status", status: "disconnected" },
      { do: "tellClose" },
      ...(error === undefined || error === state.told || isTransient(error, state.creates)
        ? []
        : [{ do: "tellError", error } as const]),
      ...effects,
    ],
  ];
}

function closing(close: Close | undefined): ConnectionEffect[] {
  return close === undefined ? [] : [{ do: "closeSocket", ...close }];
}

function wait(state: ConnectionState): Step {
  const { attempt, failures } = state;
  return [{ ...state, phase: "waiting" }, [{ do: "startTimer", timer: "retry", attempt, failures }]];
}

function stop(state: ConnectionState, error: ActorError): Step {
  return [
    { ...state, phase: "stopped", stoppedBy: error },
    [
      { do: "rejectAll", error },
      { do: "status", status: "idle" },
    ],
  ];
}

function dispose(state: ConnectionState): Step {
  const { phase } = state;
  if (phase === "disposed") return [state, []];
  const error = new ActorConnDisposed();
  const effects: ConnectionEffect[] = [];
  if (phase === "opening" || phase === "waiting" || state.watch !== undefined) effects.push({ do: "stopTimer" });
  if (phase === "opening" || phase === "open") effects.push({ do: "closeSocket", ...CLOSE_DISPOSED });
  effects.push({ do: "rejectAll", error });
  if (phase === "open") effects.push({ do: "status", status: "disconnected" }, { do: "tellClose" });
  if (statusOf(state) !== "idle") effects.push({ do: "status", status: "idle" });
  return [{ ...state, phase: "disposed", connId: undefined, watch: undefined, stoppedBy: error }, effects];
}
