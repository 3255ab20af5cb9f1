import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { exportHistories, replayHistories, testWorld, type RecordedHistory } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const registry = setup({
  use: { order: actor({ run: workflow(async (ctx) => ctx.step("charge", () => "ch_1")), actions: { get: () => 0 } }) },
});

let folder: string;
let server: Server;
let url: string;
let asked: string[];
let answer: (query: URLSearchParams) => unknown;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-"));
  asked = [];
  server = createServer((request, response) => {
    asked.push(`${request.headers.authorization} ${request.url}`);
    const body = answer(new URL(request.url ?? "", "http://x").searchParams);
    response.writeHead(body === undefined ? 401 : 200).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/rivet/`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

async function histories(count: number): Promise<RecordedHistory[]> {
  await using world = await testWorld(registry);
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const order = world.client.order.getOrCreate([`o-${index}`]);
      await order.get();
      return world.record(order);
    }),
  );
}

describe("exportHistories", () => {
  it("asks for the history of one actor by its key", async () => {
    answer = () => ({ histories: [] });
    await exportHistories(url, { token: "t", actor: "order", key: ["o-1"], folder });
    expect(asked).toEqual(["Bearer t /api/rivet/inspector/api/histories?actor=order&key=%5B%22o-1%22%5D&limit=100"]);
  });

  it("follows the pages up to the limit, redacts, and writes what replayHistories reads", async () => {
    const all = await histories(4);
    answer = (query) => {
      const from = Number(query.get("cursor") ?? 0);
      return { histories: all.slice(from, from + 2), cursor: String(from + 2) };
    };
    const files = await exportHistories(url, {
      token: "t",
      actor: "order",
      status: "completed",
      limit: 3,
      folder,
      redact: true,
    });
    expect(asked).toEqual([
      "Bearer t /api/rivet/inspector/api/histories?actor=order&status=completed&limit=3",
      "Bearer t /api/rivet/inspector/api/histories?actor=order&status=completed&limit=1&cursor=2",
    ]);
    expect(files).toHaveLength(3);
    expect(await readdir(folder)).toHaveLength(3);
    expect(await replayHistories(registry, folder)).toMatchObject([
      { outcome: "matched" },
      { outcome: "matched" },
      { outcome: "matched" },
    ]);
  });

  it("ends where a page is empty, whatever its cursor says", async () => {
    answer = () => ({ histories: [], cursor: "0" });
    expect(await exportHistories(url, { token: "t", folder })).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("says what the Worker answered instead, and what an option must be", async () => {
    answer = () => undefined;
    await expect(exportHistories(url, { token: "t", folder })).rejects.toThrow("answered 401 instead of histories");
    answer = () => "<html>";
    await expect(exportHistories(url, { token: "t", folder })).rejects.toThrow("answered without histories");
    answer = () => ({ histories: [{ format: "x" }] });
    await expect(exportHistories(url, { token: "t", folder })).rejects.toThrow('its format is "x"');
    await expect(exportHistories(url, { token: "" })).rejects.toThrow('"token" must be a string');
    await expect(exportHistories(url, { token: "t", limit: 0 })).rejects.toThrow('"limit" must be a whole number');
    await expect(exportHistories(url, { token: "t", folders: "x" } as never)).rejects.toThrow('no option "folders"');
  });
});
