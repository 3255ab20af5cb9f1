import { afterEach, describe, expect, test, vi } from "vitest";
import { loadedCodec } from "./fake-sockets.js";
import { setHomeTransport } from "../../src/client/binding.js";
import { createClient } from "../../src/client/index.js";
import { resolveConfig } from "../../src/client/internal.js";
import type { ActorTransport } from "../../src/client/index.js";

afterEach(() => {
  vi.unstubAllEnvs();
  setHomeTransport(undefined);
});

describe("without an endpoint", () => {
  test("the environment says where the server is", () => {
    expect(resolveConfig(undefined).endpoint).toBe("http://localhost:6420");
    vi.stubEnv("RIVET_ENDPOINT", "https://ns:hush@rivet.test/base");
    expect(resolveConfig(undefined)).toMatchObject({
      endpoint: "https://rivet.test/base",
      namespace: "ns",
      token: "hush",
    });
    vi.stubEnv("PERDURE_ENDPOINT", "https://perdure.test");
    expect(resolveConfig({ encoding: "json" }).endpoint).toBe("https://perdure.test");
    expect(resolveConfig("https://said.test").endpoint).toBe("https://said.test");
    vi.stubEnv("PERDURE_ENDPOINT", "not a URL");
    expect(() => createClient()).toThrow(expect.objectContaining({ code: "invalid_endpoint" }));
  });

  test("a client of the Worker that serves actors reaches those, also if it was made before that Worker's handler", async () => {
    vi.stubEnv("RIVET_ENDPOINT", "https://elsewhere.test");
    const early = createClient<any>();
    const calls: unknown[] = [];
    const home = {
      action: async (call: unknown) => calls.push(call),
      codec: loadedCodec("cbor"),
      place: "here",
    } as unknown as ActorTransport;
    setHomeTransport(() => home);
    expect(await early.counter.getOrCreate("a").add(5)).toBe(1);
    expect(calls).toMatchObject([{ name: "add", args: [5], target: { name: "counter", key: ["a"] } }]);
  });

  test("one with an endpoint or a fetch of its own does not", async () => {
    setHomeTransport(() => {
      throw new Error("the binding is not for it");
    });
    const fetch = async (): Promise<Response> => Response.json({ output: 7 });
    expect(
      await createClient<any>({ endpoint: "https://said.test", encoding: "json", fetch })
        .counter.getOrCreate("a")
        .add(5),
    ).toBe(7);
    expect(await createClient<any>({ encoding: "json", fetch }).counter.getOrCreate("a").add(5)).toBe(7);
  });
});
