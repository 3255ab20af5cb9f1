import { describe, expect, it } from "vitest";
import { BareReader, BareWriter, encodeTaggedCbor } from "../../../src/protocol/index.js";
import type { FakeSocket } from "./fake-sockets.js";
import { rivetSubject } from "./rivet-subject.js";

// The frames themselves are examined by RivetKit's codec, in conformance/.

const UPGRADE = { upgrade: "websocket" };
const NUMBERS = { state: 1, patchState: 0, action: 3, rpcs: 4 };

/** Which frame it is. */
function numberOf(frame: Uint8Array | undefined): number {
  return frame?.[2] ?? -1;
}

function errorOf(frame: Uint8Array | undefined): string {
  const bare = new BareReader(frame ?? new Uint8Array(), 6);
  expect(bare.uint()).toBe(16n);
  return bare.str();
}

function request(number: number, write: (bare: BareWriter) => void = () => {}): Uint8Array {
  const bare = new BareWriter(Uint8Array.of(6, 0, number));
  write(bare);
  return bare.finish();
}

async function opened(options?: Parameters<typeof rivetSubject>[0]) {
  const made = await rivetSubject(options);
  const response = await made.send("connect", "GET", undefined, UPGRADE);
  expect(response.status).toBe(204);
  const socket = made.sockets.opened[0] as FakeSocket;
  await socket.untilFrames(1);
  expect(numberOf(socket.frames[0])).toBe(17);
  return { ...made, socket };
}

describe("the socket of RivetKit's inspector", () => {
  it("tells what a commit changed, and is no connection of the actor", async () => {
    const { socket, get, order } = await opened();
    await get("action/add", "POST", { args: [["$BigInt", "1"]] });
    await socket.untilFrames(2);
    expect(numberOf(socket.frames[1])).toBe(5);
    expect(await get("connections")).toEqual({ connections: [] });
    await order.evict();
    expect(socket.readyState).toBe(1);
  });

  it("asks once for what many commits changed", async () => {
    const { socket, get } = await opened();
    // The answer to this is awaited while the commits are told.
    socket.receive(request(NUMBERS.rpcs, (bare) => bare.uint(1)));
    await Promise.all(Array.from({ length: 20 }, () => get("queue", "POST", { name: "elsewhere" })));
    await socket.untilFrames(3);
    const told = socket.frames.filter((frame) => numberOf(frame) === 4).length;
    expect(told).toBeLessThan(20);
    expect(told).toBeGreaterThan(0);
  });

  it("refuses acts of those who only look, one by one", async () => {
    const { socket, get } = await opened({ authorize: () => ({ name: "bob", write: false }) });
    socket.receive(request(NUMBERS.patchState, (bare) => bare.data(encodeTaggedCbor({ total: 0n }))));
    socket.receive(
      request(NUMBERS.action, (bare) => {
        bare.uint(1);
        bare.str("add");
        bare.data(encodeTaggedCbor([1n]));
      }),
    );
    socket.receive(request(NUMBERS.state, (bare) => bare.uint(2)));
    await socket.untilFrames(4);
    expect(socket.frames.slice(1, 3).map(errorOf)).toEqual(
      Array.from({ length: 2 }, () => "inspector.forbidden: bob may look, and change nothing."),
    );
    expect(numberOf(socket.frames[3])).toBe(0);
    expect(await get("state")).toMatchObject({ state: { total: ["$BigInt", "12"] } });
  });

  it.each([
    ["a text", "state"],
    ["another version", Uint8Array.of(5, 0, 1, 1)],
    ["an unknown request", Uint8Array.of(6, 0, 99)],
    ["a request with more behind it", Uint8Array.of(6, 0, 1, 1, 1)],
    ["a request that breaks off", Uint8Array.of(6, 0, 1)],
    ["nothing", Uint8Array.of()],
    ["an unknown request with more behind it", Uint8Array.of(6, 0, 99, 1)],
  ])("answers %s with an error, and goes on", async (_what, frame) => {
    const { socket } = await opened();
    socket.receive(frame);
    socket.receive(request(NUMBERS.state, (bare) => bare.uint(1)));
    await socket.untilFrames(3);
    expect(errorOf(socket.frames[1])).toMatch(/^encoding\.invalid: /);
    expect(numberOf(socket.frames[2])).toBe(0);
  });

  it("ends when more requests wait than one may send ahead", async () => {
    const { socket } = await opened();
    for (let n = 0; n < 65; n++) socket.receive(request(NUMBERS.state, (bare) => bare.uint(n)));
    expect(socket.ended).toEqual([1013, "connection.overloaded"]);
  });

  it("ends with the actor, and lets go of it when the operator leaves", async () => {
    const { socket, order, send, sockets } = await opened();
    await send("connect", "GET", undefined, UPGRADE);
    const other = sockets.opened[1] as FakeSocket;
    expect([...order.replySockets.of("inspector")]).toHaveLength(2);
    other.close(1000, "");
    expect([...order.replySockets.of("inspector")]).toHaveLength(1);
    await order.send({ mode: "get" }, { kind: "destroy" });
    await socket.untilFrames(1_000);
    expect(socket.ended?.[0]).toBe(1000);
  });
});
