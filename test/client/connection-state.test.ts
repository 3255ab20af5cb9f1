import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  advance,
  newConnection,
  statusOf,
  type ConnectionEffect,
  type ConnectionEvent,
  type ConnectionState,
} from "../../src/client/internal.js";
import { ActorError } from "../../src/protocol/index.js";

const NOW = 1_700_000_000_000;
const openFailed = new ActorError("client", "connection_open_failed", "nobody there");
const paramsFailed = new ActorError("client", "get_params_failed", "no token");

/** An effect as a line of text. */
function line(effect: ConnectionEffect): string {
  switch (effect.do) {
    case "openSocket":
      return `open with ${JSON.stringify(effect.params)}`;
    case "closeSocket":
      return `close ${effect.code} ${effect.reason}`.trim();
    case "startTimer":
      return TIMERS[effect.timer] ?? `retry after ${effect.failures}`;
    case "resume":
      return `resume ${effect.actorId}`;
    case "rejectSent":
      return effect.cause === undefined ? "reject sent" : `reject sent: ${codeOf(effect.cause)}`;
    case "rejectWaiting":
      return `reject waiting: ${codeOf(effect.error)}`;
    case "rejectAll":
      return `reject all: ${codeOf(effect.error)}`;
    case "status":
      return effect.status;
    case "tellError":
      return `error ${codeOf(effect.error)}`;
    default:
      return effect.do;
  }
}

const TIMERS: Record<string, string> = {
  open: "time the opening",
  silence: "time the silence",
  answer: "time the answer",
};

function codeOf({ group, code }: ActorError): string {
  return `${group}/${code}`;
}

/** An event whose attempt is the newest one's, unless it is given. */
type Given = {
  [K in ConnectionEvent["type"]]: Omit<Extract<ConnectionEvent, { type: K }>, "attempt" | "openFailed"> & {
    attempt?: number;
  };
}[ConnectionEvent["type"]];

function give(state: ConnectionState, event: Given): readonly [ConnectionState, readonly ConnectionEffect[]] {
  return advance(state, { attempt: state.attempt, openFailed, ...event } as ConnectionEvent);
}

function after(events: readonly Given[], state = newConnection(false)): ConnectionState {
  return events.reduce((current, event) => give(current, event)[0], state);
}

const CONNECT: Given = { type: "connect" };
const PARAMS: Given = { type: "paramsReady", params: { t: 1 } };
const NO_PARAMS: Given = { type: "paramsFailed", error: paramsFailed };
const INIT: Given = { type: "init", actorId: "actor-1", connId: "conn-1", at: NOW };
const DUE: Given = { type: "due", at: NOW + 1 };
const HEARD: Given = { type: "heard", at: NOW + 1 };
/** The same from a server of ours, and thus one that knows pings. */
const OWN_INIT: Given = { type: "init", actorId: `${"a".repeat(64)}-${"b".repeat(16)}`, connId: "conn-1", at: NOW };
const DISPOSE: Given = { type: "dispose" };
const RECONNECT: Given = { type: "reconnect" };
const closed = (code: number, reason = "", at = NOW + 1): Given => ({ type: "closed", code, reason, at });
const errorFrame = (group: string, code: string): Given => ({
  type: "errorFrame",
  error: new ActorError(group, code, code),
  at: NOW + 1,
});
const broken = (group: string, code: string): Given => ({
  type: "broken",
  error: new ActorError(group, code, code),
  at: NOW + 1,
});

const PHASES: Record<ConnectionState["phase"], readonly Given[]> = {
  new: [],
  params: [CONNECT],
  opening: [CONNECT, PARAMS],
  open: [CONNECT, PARAMS, INIT],
  waiting: [CONNECT, PARAMS, INIT, closed(1006)],
  stopped: [CONNECT, PARAMS, errorFrame("auth", "forbidden")],
  disposed: [CONNECT, DISPOSE],
};

type Transition = readonly [
  phase: ConnectionState["phase"],
  event: string,
  given: Given,
  next: ConnectionState["phase"],
  effects: readonly string[],
];

/** What each event does in each phase: the next phase, and the effects. Where nothing stands, nothing happens. */
// oxfmt-ignore
const TRANSITIONS: readonly Transition[] = [
  ["new", "connect", CONNECT, "params", ["connecting", "getParams"]],
  ["new", "dispose", DISPOSE, "disposed", ["reject all: client/connection_disposed"]],

  ["params", "params", PARAMS, "opening", ["time the opening", 'open with {"t":1}']],
  ["params", "no params", NO_PARAMS, "waiting", [
    "error client/get_params_failed", "disconnected", "retry after 1", "reject waiting: client/get_params_failed",
  ]],
  ["params", "dispose", DISPOSE, "disposed", ["reject all: client/connection_disposed", "idle"]],

  ["opening", "init", INIT, "open", ["stopTimer", "resume actor-1", "connected", "tellOpen"]],
  ["opening", "a refusal", errorFrame("user", "go_away"), "stopped", [
    "stopTimer", "close 1000", "error user/go_away", "reject all: user/go_away", "idle",
  ]],
  ["opening", "a lifecycle error", errorFrame("actor", "starting"), "waiting", [
    "stopTimer", "close 1000", "error actor/starting", "disconnected", "retry after 1",
  ]],
  ["opening", "what cannot be read", broken("client", "malformed_response"), "stopped", [
    "stopTimer", "close 4002 encoding.invalid", "error client/malformed_response", "reject all: client/malformed_response", "idle",
  ]],
  ["opening", "a close without a word", closed(1006), "waiting", [
    "stopTimer", "error client/connection_open_failed", "disconnected", "retry after 1",
  ]],
  ["opening", "a close with a reason", closed(1011, "auth.forbidden#0123"), "stopped", [
    "stopTimer", "error auth/forbidden", "reject all: auth/forbidden", "idle",
  ]],
  ["opening", "its time is over", DUE, "waiting", [
    "stopTimer", "close 4008 client.connection_open_failed", "error client/connection_open_failed", "disconnected", "retry after 1",
  ]],
  ["opening", "dispose", DISPOSE, "disposed", [
    "stopTimer", "close 1000 Disposed", "reject all: client/connection_disposed", "idle",
  ]],

  ["open", "an error of a subscription", errorFrame("event", "not_declared"), "open", ["error event/not_declared"]],
  ["open", "an internal error", errorFrame("rivetkit", "internal_error"), "open", ["error rivetkit/internal_error"]],
  ["open", "a goodbye", errorFrame("actor", "restarting"), "waiting", [
    "close 1000", "reject sent: actor/restarting", "disconnected", "tellClose", "retry after 1",
  ]],
  ["open", "a goodbye after a long message", errorFrame("message", "incoming_too_long"), "waiting", [
    "close 1000", "reject sent: message/incoming_too_long", "disconnected", "tellClose", "error message/incoming_too_long", "retry after 1",
  ]],
  ["open", "a dismissal", errorFrame("auth", "forbidden"), "stopped", [
    "close 1000", "reject sent: auth/forbidden", "disconnected", "tellClose", "error auth/forbidden", "reject all: auth/forbidden", "idle",
  ]],
  ["open", "what cannot be read", broken("client", "malformed_response"), "waiting", [
    "close 4002 encoding.invalid", "reject sent: client/malformed_response", "disconnected", "tellClose",
    "error client/malformed_response", "retry after 1",
  ]],
  ["open", "a close without a word", closed(1006), "waiting", [
    "reject sent", "disconnected", "tellClose", "retry after 1",
  ]],
  ["open", "a close by the actor", closed(1000, "bye"), "waiting", [
    "reject sent", "disconnected", "tellClose", "retry after 1",
  ]],
  ["open", "a lifecycle close", closed(1011, "actor.destroyed"), "waiting", [
    "reject sent: actor/destroyed", "disconnected", "tellClose", "retry after 1",
  ]],
  ["open", "a close after a long message", closed(1011, "message.incoming_too_long"), "waiting", [
    "reject sent: message/incoming_too_long", "disconnected", "tellClose", "error message/incoming_too_long", "retry after 1",
  ]],
  ["open", "a close with an auth reason of the actor's own", closed(1000, "auth.kicked"), "stopped", [
    "reject sent: auth/kicked", "disconnected", "tellClose", "error auth/kicked", "reject all: auth/kicked", "idle",
  ]],
  ["open", "a close of refusal", closed(1008, "rule 5"), "stopped", [
    "reject sent: client/connection_refused", "disconnected", "tellClose", "error client/connection_refused",
    "reject all: client/connection_refused", "idle",
  ]],
  ["open", "dispose", DISPOSE, "disposed", [
    "close 1000 Disposed", "reject all: client/connection_disposed", "disconnected", "tellClose", "idle",
  ]],

  ["waiting", "due", DUE, "params", ["connecting", "getParams"]],
  ["waiting", "reconnect", RECONNECT, "params", ["stopTimer", "connecting", "getParams"]],
  ["waiting", "dispose", DISPOSE, "disposed", ["stopTimer", "reject all: client/connection_disposed", "idle"]],

  ["stopped", "reconnect", RECONNECT, "params", ["connecting", "getParams"]],
  ["stopped", "dispose", DISPOSE, "disposed", ["reject all: client/connection_disposed"]],
];

/** One event of each type. */
const ONE_OF_EACH: readonly Given[] = [
  CONNECT,
  PARAMS,
  NO_PARAMS,
  INIT,
  HEARD,
  errorFrame("auth", "forbidden"),
  broken("client", "malformed_response"),
  closed(1006),
  DUE,
  RECONNECT,
  DISPOSE,
];

describe("a connection", () => {
  test.each(TRANSITIONS)("%s, %s", (phase, _name, event, next, effects) => {
    const before = after(PHASES[phase]);
    expect(before.phase).toBe(phase);
    const [state, done] = give(before, event);
    expect([state.phase, done.map(line)]).toEqual([next, effects]);
  });

  test("is moved by nothing else", () => {
    for (const [phase, events] of Object.entries(PHASES)) {
      for (const event of ONE_OF_EACH) {
        if (TRANSITIONS.some(([at, , { type }]) => at === phase && type === event.type)) continue;
        const before = after(events);
        expect(give(before, event), `${phase} ${event.type}`).toEqual([before, []]);
      }
    }
  });

  test("hears nothing of an older attempt", () => {
    const again = [CONNECT, PARAMS, INIT, closed(1006), DUE];
    for (const more of [[], [PARAMS], [PARAMS, INIT]]) {
      const state = after([...again, ...more]);
      for (const event of ONE_OF_EACH.filter(({ type }) => !["connect", "reconnect", "dispose"].includes(type))) {
        expect(give(state, { ...event, attempt: 1 }), event.type).toEqual([state, []]);
      }
    }
  });

  test("tells an error once, if the close repeats it", () => {
    const told = new ActorError("user", "not_this_event", "not this one", { metadata: { event: "secret" } });
    const [state] = give(after(PHASES.open), { type: "errorFrame", error: told, at: NOW });
    const [next, effects] = give(state, closed(1011, "user.not_this_event"));
    expect([next.phase, effects.map(line)]).toEqual([
      "waiting",
      ["reject sent: user/not_this_event", "disconnected", "tellClose", "retry after 1"],
    ]);
    expect(effects[0]).toMatchObject({ cause: told });
    // Another one is news, and so is the same of the next connection.
    expect(give(state, closed(1011, "user.other"))[1].map(line)).toContain("error user/other");
    expect(give(after([DUE, PARAMS, INIT], next), closed(1011, "user.not_this_event"))[1].map(line)).toContain(
      "error user/not_this_event",
    );
  });

  test("says who is at the other end", () => {
    const open = after(PHASES.open);
    expect(open).toMatchObject({ actorId: "actor-1", connId: "conn-1" });
    expect(give(open, closed(1006))[0]).toMatchObject({ actorId: "actor-1", connId: undefined });
    expect(give(open, DISPOSE)[0]).toMatchObject({ actorId: "actor-1", connId: undefined });
  });
});

describe("an endpoint at which nobody answers", () => {
  const attempt = [PARAMS, closed(1006), DUE];

  test("counts as a wrong one after six attempts", () => {
    const fifth = after([CONNECT, ...attempt, ...attempt, ...attempt, ...attempt, PARAMS, closed(1006)]);
    expect(fifth).toMatchObject({ phase: "waiting", failures: 5 });
    const [state, effects] = give(after([DUE, PARAMS], fifth), closed(1006));
    expect(state).toMatchObject({ phase: "stopped", stoppedBy: openFailed });
    expect(effects.map(line)).toEqual([
      "stopTimer",
      "error client/connection_open_failed",
      "reject all: client/connection_open_failed",
      "idle",
    ]);
    // Begun by hand, it has six again.
    expect(after([RECONNECT, ...attempt, PARAMS, closed(1006)], state)).toMatchObject({
      phase: "waiting",
      failures: 2,
    });
  });

  test("is asked for ever by a connection that was open", () => {
    const lost = after(PHASES.waiting);
    const state = after(Array.from({ length: 100 }, () => [DUE, PARAMS, closed(1006)]).flat(), lost);
    expect(state).toMatchObject({ phase: "waiting", failures: 101 });
  });
});

describe("getParams that throws", () => {
  test("is asked again for ever, also before the first opening", () => {
    const state = after(Array.from({ length: 100 }, () => [NO_PARAMS, DUE]).flat(), after([CONNECT]));
    expect(state).toMatchObject({ phase: "params", failures: 100 });
  });
});

describe("attempts that follow an opening", () => {
  const reopening = after([DUE, PARAMS], after(PHASES.waiting));

  test.each([
    "auth/forbidden",
    "auth/unauthorized",
    "api/unauthorized",
    "actor/not_found",
    "actor/not_registered",
    "request/too_large",
    "actor/invalid_request",
    "guard/no_route",
    "encoding/unsupported",
    "user/go_away",
  ])("end with %s", (error) => {
    const [group = "", code = ""] = error.split("/");
    const status = code === "not_registered" ? { statusCode: 404 } : {};
    expect(
      give(reopening, { type: "errorFrame", error: new ActorError(group, code, code, status), at: NOW })[0].phase,
    ).toBe("stopped");
  });

  test.each([
    "actor/starting",
    "actor/stopping",
    "actor/restarting",
    "actor/overloaded",
    "actor/destroyed",
    "guard/service_unavailable",
    "guard/rate_limit",
    "registry/shut_down",
    "rivetkit/internal_error",
    "client/malformed_response",
    "what/ever",
  ])("go on after %s", (error) => {
    const [group = "", code = ""] = error.split("/");
    expect(give(reopening, errorFrame(group, code))[0].phase).toBe("waiting");
  });

  test("go on after actor/not_found if connecting makes the actor", () => {
    const creating = after([...PHASES.waiting, DUE, PARAMS], newConnection(true));
    expect(give(creating, errorFrame("actor", "not_found"))[0].phase).toBe("waiting");
    expect(give(after(PHASES.opening, newConnection(true)), errorFrame("actor", "not_found"))[0].phase).toBe("waiting");
    expect(give(after(PHASES.opening), errorFrame("actor", "not_found"))[0].phase).toBe("stopped");
  });
});

describe("the first answer of all", () => {
  test.each([
    "user/go_away",
    "rivetkit/internal_error",
    "actor/not_found",
    "auth/forbidden",
    "what/ever",
    "client/no_web_socket",
    "client/input_too_large",
  ])("ends it if it is %s", (error) => {
    const [group = "", code = ""] = error.split("/");
    expect(give(after(PHASES.opening), errorFrame(group, code))[0].phase).toBe("stopped");
    expect(give(after(PHASES.opening), broken(group, code))[0].phase).toBe("stopped");
  });
});

describe("failures in a row", () => {
  const lasting = (state: ConnectionState, ms: number): ConnectionState =>
    after([PARAMS, { ...INIT, at: NOW } as Given, closed(1006, "", NOW + ms)], state);

  test("go on over connections that did not last", () => {
    let state = lasting(after([CONNECT]), 10);
    expect(state.failures).toBe(1);
    state = lasting(after([DUE], state), 4_999);
    expect(state.failures).toBe(2);
    state = lasting(after([DUE], state), 0);
    expect(state.failures).toBe(3);
  });

  test("begin anew after one that lasted 5 s", () => {
    const state = lasting(after([DUE], lasting(after([CONNECT]), 10)), 5_000);
    expect(state.failures).toBe(1);
  });
});

describe("an open connection that asks", () => {
  const asking = (...events: Given[]): ConnectionState =>
    after([CONNECT, PARAMS, OWN_INIT, ...events], newConnection(false, true));
  const lines = (state: ConnectionState, event: Given): string[] => give(state, event)[1].map(line);

  test("times the silence from its opening on", () => {
    expect(lines(after([CONNECT, PARAMS], newConnection(false, true)), OWN_INIT)).toEqual([
      "stopTimer",
      `resume ${"a".repeat(64)}-${"b".repeat(16)}`,
      "connected",
      "tellOpen",
      "time the silence",
    ]);
  });

  test("does not if it is not to, and not at a server whose ids are not ours: it would take a ping for a malformed frame", () => {
    expect(lines(after([CONNECT, PARAMS], newConnection(false, false)), OWN_INIT)).not.toContain("time the silence");
    expect(lines(after([CONNECT, PARAMS], newConnection(false, true)), INIT)).not.toContain("time the silence");
    expect(give(after([CONNECT, PARAMS, INIT], newConnection(false, true)), DUE)[1]).toEqual([]);
  });

  test("times the silence from what came last, after a time in which anything came", () => {
    const [state, effects] = give(asking(HEARD, { type: "heard", at: NOW + 7 }), DUE);
    expect([effects.map(line), state]).toEqual([["time the silence"], asking()]);
    expect(effects).toMatchObject([{ since: NOW + 7 }]);
  });

  test("pings after a time in which nothing came, and is content with anything that comes then", () => {
    expect(lines(asking(), DUE)).toEqual(["ping", "time the answer"]);
    const [state, effects] = give(asking(DUE), HEARD);
    expect([effects.map(line), state]).toEqual([["time the silence"], asking()]);
    expect(give(asking(DUE, DUE), HEARD)[0]).toEqual(asking());
  });

  test("is lost when nothing comes after the second ping either: closed, and tried again as after any other loss", () => {
    expect(lines(asking(DUE), DUE)).toEqual(["ping", "time the answer"]);
    const [state, effects] = give(asking(DUE, DUE), { type: "due", at: NOW + 40_000 });
    expect(effects.map(line)).toEqual([
      "stopTimer",
      "close 4008 client.connection_lost",
      "reject sent: client/connection_lost",
      "disconnected",
      "tellClose",
      "retry after 1",
    ]);
    expect(state).toMatchObject({ phase: "waiting", failures: 1, watch: undefined });
    expect(give(state, HEARD)).toEqual([state, []]);
    expect(after([{ type: "due", at: NOW + 40_250 }, PARAMS, OWN_INIT], state)).toMatchObject({
      phase: "open",
      watch: { heardAt: undefined, asked: 0 },
    });
  });

  test.each([
    ["disposed of", DISPOSE],
    ["closed", closed(1006)],
    ["dismissed", errorFrame("auth", "forbidden")],
    ["broken", broken("client", "malformed_response")],
  ] as const)("leaves no timer behind when it is %s", (_how, event) => {
    for (const state of [asking(), asking(DUE), asking(DUE, DUE)]) {
      const [next, effects] = give(state, event);
      expect(effects[0]).toEqual({ do: "stopTimer" });
      expect(next.watch).toBeUndefined();
    }
  });
});

describe("whatever happens", () => {
  const codes = fc.constantFrom(
    "auth/forbidden",
    "actor/starting",
    "actor/not_found",
    "user/no",
    "event/not_declared",
    "rivetkit/internal_error",
    "client/malformed_response",
  );
  const error = codes.map((text) => new ActorError(text.split("/")[0] ?? "", text.split("/")[1] ?? "", text));
  const at = fc.integer({ min: NOW, max: NOW + 20_000 });
  const anyEvent: fc.Arbitrary<Given> = fc.oneof(
    { weight: 1, arbitrary: fc.constant(CONNECT) },
    { weight: 4, arbitrary: fc.constant(PARAMS) },
    { weight: 1, arbitrary: fc.constant(NO_PARAMS) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(at, fc.constantFrom(OWN_INIT, INIT))
        .map(([time, init]): Given => ({ ...init, at: time }) as Given),
    },
    { weight: 2, arbitrary: fc.constant(HEARD) },
    {
      weight: 2,
      arbitrary: fc.tuple(error, at).map(([reason, time]): Given => ({ type: "errorFrame", error: reason, at: time })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(error, at).map(([reason, time]): Given => ({ type: "broken", error: reason, at: time })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom(1000, 1003, 1006, 1011),
          fc.constantFrom("", "auth.forbidden", "actor.starting#1", "bye"),
          at,
        )
        .map(([code, reason, time]) => closed(code, reason, time)),
    },
    { weight: 4, arbitrary: fc.constant(DUE) },
    { weight: 1, arbitrary: fc.constant(RECONNECT) },
    { weight: 1, arbitrary: fc.constant(DISPOSE) },
  );

  test("there is one socket at most, one timer where one is due, and a status that says so", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.tuple(anyEvent, fc.nat(3)), { minLength: 5, maxLength: 80 }),
        (creates, asks, events) => {
          let state = newConnection(creates, asks);
          let status = "idle";
          let hasSocket = false;
          let timer: string | undefined;
          let isOpen = false;
          for (const [event, age] of [[CONNECT, 0] as const, ...events]) {
            const attempt = state.attempt - (age === 3 ? 1 : 0);
            const isCurrent = attempt === state.attempt;
            const [next, effects] = give(state, { ...event, attempt });
            // What the world does by itself.
            if (isCurrent && event.type === "closed") hasSocket = false;
            if (isCurrent && event.type === "due" && timer !== undefined) timer = undefined;
            const wasDisposed = state.phase === "disposed";
            for (const effect of effects) {
              switch (effect.do) {
                case "openSocket":
                  expect(hasSocket).toBe(false);
                  hasSocket = true;
                  break;
                case "closeSocket":
                  expect(hasSocket).toBe(true);
                  hasSocket = false;
                  break;
                case "ping":
                  expect([hasSocket, next.phase, next.watch?.heardAt]).toEqual([true, "open", undefined]);
                  break;
                case "startTimer":
                  expect(effect.timer === "retry").toBe(next.phase === "waiting");
                  if (effect.timer === "retry") expect(effect.failures).toBeGreaterThan(0);
                  timer = effect.timer;
                  break;
                case "stopTimer":
                  timer = undefined;
                  break;
                case "status":
                  expect(effect.status).not.toBe(status);
                  status = effect.status;
                  break;
                case "tellOpen":
                  expect([isOpen, status]).toEqual([false, "connected"]);
                  isOpen = true;
                  break;
                case "tellClose":
                  expect([isOpen, status]).toEqual([true, "disconnected"]);
                  isOpen = false;
                  break;
                case "resume":
                  expect(hasSocket).toBe(true);
                  break;
              }
            }
            if (wasDisposed) expect(effects).toEqual([]);
            state = next;
            expect(status).toBe(statusOf(state));
            expect(isOpen).toBe(state.phase === "open");
            const watched = state.watch && (state.watch.asked === 0 ? "silence" : "answer");
            expect(timer).toBe(state.phase === "opening" ? "open" : state.phase === "waiting" ? "retry" : watched);
            expect(state.watch === undefined || (state.phase === "open" && asks && state.actorId !== "actor-1")).toBe(
              true,
            );
            expect(hasSocket).toBe(state.phase === "opening" || state.phase === "open");
            expect(state.stoppedBy !== undefined).toBe(state.phase === "stopped" || state.phase === "disposed");
            expect(state.connId !== undefined).toBe(state.phase === "open");
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("a connection that was let in is never given up but for a refusal, and ends at once when it is disposed of", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
        let state = after([...PHASES.open], newConnection(true));
        for (const event of events) {
          const [next, effects] = give(state, event);
          if (next.phase === "stopped" && state.phase !== "stopped") {
            const told = effects.find((effect) => effect.do === "tellError");
            expect(
              told?.do === "tellError" &&
                (told.error.group === "auth" ||
                  told.error.statusCode === 401 ||
                  told.error.statusCode === 403 ||
                  !next.hasConnected ||
                  told.error.statusCode < 500),
            ).toBe(true);
          }
          state = next;
        }
        const [disposed, effects] = give(state, DISPOSE);
        expect(disposed.phase).toBe("disposed");
        if (state.phase !== "disposed") expect(effects.map(line)).toContain("reject all: client/connection_disposed");
      }),
      { numRuns: 500 },
    );
  });
});
