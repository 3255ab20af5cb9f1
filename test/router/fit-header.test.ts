import { describe, expect, test } from "vitest";
import {
  ActorError,
  encodeValue,
  ENVELOPE_HEADER,
  parseEnvelopeHeader,
  type Creation,
  type CallOperation,
} from "../../src/protocol/index.js";
import {
  createRequestSender,
  createSocketOpener,
  type ActorNamespace,
  type CallActor,
} from "../../src/router/index.js";

const ID = `${"0".repeat(64)}-00112233445566aa`;
const NAMES = new Set(["room"]);
/** What a header carries of an input. */
const LIMIT = 8192;

/** Objects that keep the envelope that came in a header, and refuse everything. */
function open() {
  const seen: ReturnType<typeof parseEnvelopeHeader>[] = [];
  const calls: { creation: Creation; operation: CallOperation }[] = [];
  const objects: ActorNamespace = {
    idFromName: () => ({ toString: () => "by name" }),
    idFromString: () => ({ toString: () => "by id" }),
    get: () => ({
      call: () => Promise.reject(new Error("not called")),
      fetch: async (request, init) => {
        seen.push(parseEnvelopeHeader(new Request(request, init).headers.get(ENVELOPE_HEADER)));
        return new Response(encodeValue({ group: "user", code: "no", message: "No" }), { status: 400 });
      },
    }),
  };
  const callActor: CallActor = async ({ target, operation }) => {
    if (!("creation" in target)) throw new Error("not by id");
    calls.push({ creation: target.creation, operation });
    return { v: 1, ok: true, actorId: ID, created: true, createdAt: 0 };
  };
  return { objects, calls, callActor, seen };
}

type Way = (world: ReturnType<typeof open>, creation: Creation, params?: Uint8Array) => Promise<unknown>;

const target = (creation: Creation) => ({ name: "room", key: ["a"], creation });
const WAYS: [string, Way][] = [
  [
    "a socket",
    ({ objects, callActor }, creation, params) =>
      createSocketOpener(
        objects,
        NAMES,
        callActor,
      )({
        target: target(creation),
        operation: { kind: "connect", encoding: "cbor", extended: true },
        ...(params && { params }),
      }),
  ],
  [
    "a raw request",
    ({ objects, callActor }, creation, params) =>
      createRequestSender(
        objects,
        NAMES,
        callActor,
      )({
        target: target(creation),
        request: { method: "GET", url: "http://actor/", headers: [] },
        body: null,
        ...(params && { params }),
      }),
  ],
];

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => (ActorError.isActorError(error) ? `${error.statusCode} ${error.group}/${error.code}` : error),
  );

describe.each(WAYS)("%s", (_name, way) => {
  test("carries an input that fits its header", async () => {
    const world = open();
    const creation: Creation = { mode: "getOrCreate", input: new Uint8Array(LIMIT) };
    expect(await failureOf(way(world, creation))).toBe("400 user/no");
    expect(world.calls).toEqual([]);
    expect(world.seen).toMatchObject([{ address: { name: "room", key: ["a"] }, creation: { mode: "getOrCreate" } }]);
    expect((world.seen[0]?.creation as { input?: Uint8Array } | undefined)?.input?.byteLength).toBe(LIMIT);
  });

  test("creates the actor first if its input is one byte more, and then names it by its id", async () => {
    const world = open();
    const creation: Creation = { mode: "getOrCreate", input: new Uint8Array(LIMIT + 1) };
    expect(await failureOf(way(world, creation))).toBe("400 user/no");
    expect(world.calls).toEqual([{ creation, operation: { kind: "resolve", forCaller: true } }]);
    expect(world.seen).toMatchObject([{ address: { generation: "00112233445566aa" }, creation: { mode: "get" } }]);
  });

  test("is not sent if the actor cannot be created", async () => {
    const world = open();
    const refused = {
      ...world,
      callActor: () => Promise.reject(new ActorError("actor", "input_too_large", "too large")),
    };
    expect(await failureOf(way(refused, { mode: "getOrCreate", input: new Uint8Array(LIMIT + 1) }))).toBe(
      "413 actor/input_too_large",
    );
    expect(world.seen).toEqual([]);
  });

  test("is not sent with params of more than 4 KiB", async () => {
    const world = open();
    expect(await failureOf(way(world, { mode: "get" }, new Uint8Array(4096)))).toBe("400 user/no");
    expect(await failureOf(way(world, { mode: "get" }, new Uint8Array(4097)))).toBe("413 request/too_large");
    expect([world.seen.length, world.calls.length]).toEqual([1, 0]);
  });
});
