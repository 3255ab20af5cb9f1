import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeTaggedCbor,
  decodeValue,
  encodeTaggedCbor,
  ENVELOPE_VERSION,
  formatBase64Url,
  objectName,
  wireCodec,
  type CallEnvelope,
} from "../../src/protocol/index.js";
import { echo, FakeObjects, fail, GENERATION, succeed } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";

const GET = "rvt-namespace=default&rvt-method=get";
const GET_OR_CREATE = "rvt-namespace=default&rvt-method=getOrCreate";
const POST = { method: "POST", body: '{"args":[]}' };

async function errorOf(response: Response): Promise<string> {
  const { group, code } = await response.json<{ group: string; code: string }>();
  return `${response.status} ${group}/${code}`;
}

function addressOf({ address, creation }: CallEnvelope): unknown {
  return [address.name, address.key, creation.mode];
}

describe("an action call", () => {
  test("is the transcript of the published client's, answered as that client expects", async () => {
    const objects = new FakeObjects(() => succeed(5));
    const response = await routerOver(objects)(
      "/gateway/counter/action/increment?rvt-namespace=default&rvt-method=getOrCreate&rvt-runner=default" +
        "&rvt-key=main&rvt-crash-policy=sleep",
      {
        method: "POST",
        body: '{"args":[3]}',
        headers: { "x-rivet-encoding": "json", "content-type": "application/json" },
      },
    );
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/json",
      '{"output":5}',
    ]);
    expect(response.headers.get("x-rivet-actor")).toBe(`${"a".repeat(64)}-${GENERATION}`);
    expect(objects.last.object).toBe('["counter","main"]');
    expect(objects.last.envelope).toMatchObject({
      v: ENVELOPE_VERSION,
      address: { name: "counter", key: ["main"] },
      creation: { mode: "getOrCreate" },
    });
    expect(objects.last.envelope.operation).toMatchObject({ kind: "action", name: "increment" });
    expect(objects.lastArgs).toEqual([3]);
  });

  test.each([
    [`/gateway/counter/action/x?${GET}`, ["counter", [], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key=`, ["counter", [], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key=a,b`, ["counter", ["a", "b"], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key=a%2Cb+c`, ["counter", ["a", "b c"], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key-json=%5B%22a%2Cb%22%5D`, ["counter", ["a,b"], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key=a,b&rvt-key-json=%5B%22a%2Cb%22%5D`, ["counter", ["a,b"], "get"]],
    [`/gateway/counter/action/x?${GET}&rvt-key=&rvt-key-json=%5B%22%22%5D`, ["counter", [""], "get"]],
    [
      `/gateway/c%6funter@t0ken/action/x?${GET_OR_CREATE}&rvt-token=t&rvt-skip-ready-wait=true&rvt-pool=p`,
      ["counter", [], "getOrCreate"],
    ],
  ])("of %s is addressed to %j", async (path, address) => {
    const objects = new FakeObjects();
    expect((await routerOver(objects)(path, POST)).status).toBe(200);
    expect(addressOf(objects.last.envelope)).toEqual(address);
  });

  test.each(["users.add", "a b", "a/b", "é\n", "", "..%", "__proto__"])(
    "of the action %j reaches the object under that name",
    async (name) => {
      const objects = new FakeObjects();
      await routerOver(objects)(`/gateway/counter/action/${encodeURIComponent(name)}?${GET}`, POST);
      expect(objects.last.envelope.operation).toMatchObject({ name });
    },
  );

  test("by id goes to the object of that id, with the generation to compare", async () => {
    const objects = new FakeObjects();
    const id = `${objects.idOf('["counter","a"]')}-${GENERATION}`;
    expect((await routerOver(objects)(`/gateway/${id}@token/action/add?rvt-skip-ready-wait=true`, POST)).status).toBe(
      200,
    );
    expect(objects.last.object).toBe('["counter","a"]');
    expect(objects.last.envelope).toMatchObject({ address: { generation: GENERATION }, creation: { mode: "get" } });
    const unknown = await routerOver(objects)(`/gateway/${"f".repeat(64)}-${GENERATION}/action/add`, POST);
    expect(await errorOf(unknown)).toBe("404 actor/not_found");
  });

  test("shows the actor the user's request, without what is ours", async () => {
    const objects = new FakeObjects();
    await routerOver(objects)(`/gateway/counter@secret/action/add?b=%20&rvt-token=secret&${GET}&a=1&a=2&flag`, {
      ...POST,
      headers: {
        authorization: "Bearer user",
        "x-rivet-token": "secret",
        "x-rivet-conn-params": "1",
        "x-custom": "yes",
      },
    });
    const { request } = objects.last.envelope;
    expect(request).toMatchObject({
      method: "POST",
      url: "http://localhost:6420/gateway/counter/action/add?b=%20&a=1&a=2&flag",
    });
    const headers = Object.fromEntries(request?.headers ?? []);
    expect(headers).toMatchObject({ authorization: "Bearer user", "x-custom": "yes" });
    expect(JSON.stringify(request)).not.toContain("secret");
    expect(headers).not.toHaveProperty("x-rivet-conn-params");
  });

  test("carries input and region to the creation", async () => {
    const objects = new FakeObjects();
    const input = { at: new Date(7), like: ["$x", 1], set: new Set([1n]) };
    const text = formatBase64Url(encodeTaggedCbor(input));
    await routerOver(objects)(`/gateway/counter/action/add?${GET_OR_CREATE}&rvt-input=${text}&rvt-region=weur`, POST);
    const { creation } = objects.last.envelope;
    expect(creation.mode === "getOrCreate" && decodeValue(creation.input ?? new Uint8Array())).toEqual(input);
    expect(objects.last.locationHint).toBe("weur");
    for (const anywhere of ["auto", "default", ""]) {
      await routerOver(objects)(`/gateway/counter/action/add?${GET_OR_CREATE}&rvt-region=${anywhere}`, POST);
      expect(objects.last.locationHint).toBeUndefined();
    }
  });

  test.each(["mars", "WEUR", "__proto__", "weur,enam"])(
    "to the region %s, which there is not, is refused before any object is asked",
    async (region) => {
      const objects = new FakeObjects();
      const response = await routerOver(objects)(
        `/gateway/counter/action/add?${GET_OR_CREATE}&rvt-region=${region}`,
        POST,
      );
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { group: "actor", code: "invalid_region", message: expect.stringContaining(region) },
      ]);
      expect(objects.calls).toEqual([]);
    },
  );

  test("carries connection params as their value", async () => {
    const objects = new FakeObjects();
    const send = routerOver(objects);
    await postAction(send, '{"args":[]}', { "x-rivet-conn-params": '{"t":["$x",1]}' });
    expect(decodeValue(objects.last.envelope.params ?? new Uint8Array())).toEqual({ t: ["$x", 1] });
    await postAction(send, '{"args":[]}', { "x-rivet-conn-params": '["$BigInt","7"]', "x-perdure-json": "1" });
    expect(decodeValue(objects.last.envelope.params ?? new Uint8Array())).toBe(7n);
    await postAction(send, '{"args":[]}');
    expect(objects.last.envelope).not.toHaveProperty("params");
  });
});

describe("encodings", () => {
  test.each(["json", "cbor", "bare"] as const)("%s carries arguments and result both ways", async (encoding) => {
    const codec = wireCodec(encoding);
    const objects = new FakeObjects();
    const args = [1, 2n, undefined, new Uint8Array([1, 2]), new Set([3]), ["$x", 1]];
    const response = await routerOver(objects)(`/gateway/counter/action/add?${GET}`, {
      method: "POST",
      body: codec.actionRequest.encode({ args }),
      headers: { "x-rivet-encoding": encoding },
    });
    expect(objects.lastArgs).toEqual(args);
    expect(response.headers.get("content-type")).toBe(codec.contentType);
    expect(codec.actionResponse.decode(new Uint8Array(await response.arrayBuffer()))).toEqual({ output: args });
  });

  test("answers a published bare client with the frame it knows", async () => {
    const response = await routerOver(new FakeObjects(() => succeed(1)))(`/gateway/counter/action/add?${GET}`, {
      method: "POST",
      body: new Uint8Array([4, 0, 1, 0x80]),
      headers: { "x-rivet-encoding": "bare" },
    });
    const frame = new Uint8Array(await response.arrayBuffer());
    expect(frame.slice(0, 3)).toEqual(new Uint8Array([4, 0, 1]));
    expect(decodeTaggedCbor(frame.slice(3))).toBe(1);
  });

  test("answers errors as JSON in every encoding", async () => {
    const response = await postAction(routerOver(new FakeObjects(() => fail("user", "bad", 400))), "\x04\x00\x01\x80", {
      "x-rivet-encoding": "bare",
    });
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  test("uses tags that only we know when our own client asks for them", async () => {
    const send = routerOver(new FakeObjects(() => succeed({ at: new Date(5), map: new Map([[1, NaN]]) })));
    expect(await (await postAction(send, "")).json()).toEqual({ output: { at: "1970-01-01T00:00:00.005Z", map: {} } });
    expect(await (await postAction(send, "", { "x-perdure-json": "1" })).json()).toEqual({
      output: { at: ["$Date", 5], map: ["$Map", [[1, ["$Number", "NaN"]]]] },
    });
  });
});

describe("a bad request", () => {
  const id = `${"0".repeat(64)}-${GENERATION}`;
  test.each<[string, string]>([
    ["400 guard/query_invalid_params", "/gateway/counter/action/add"],
    ["400 guard/query_invalid_params", "/gateway/counter/action/add?rvt-namespace=default"],
    ["400 guard/query_invalid_params", "/gateway/counter/action/add?rvt-method=get"],
    ["400 guard/query_invalid_params", "/gateway/counter/action/add?rvt-namespace=default&rvt-method=create"],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-nonsense=1`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-key=%ff`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-key=a&rvt-key-json=%5B%22b%22%5D`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-key-json=%5B1%5D`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-key-json=nope`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-runner=default`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-input=AQ`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-region=weur`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-crash-policy=sleep`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET}&rvt-skip-ready-wait=perhaps`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET_OR_CREATE}&rvt-crash-policy=panic`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET_OR_CREATE}&rvt-input=%21%21`],
    ["400 guard/query_invalid_params", `/gateway/counter/action/add?${GET_OR_CREATE}&rvt-input=gg`],
    ["400 guard/query_invalid_params", `/gateway/${id}/action/add?${GET}`],
    ["400 guard/query_invalid_params", `/gateway/%ff/action/add?${GET}`],
    ["400 guard/query_duplicate_param", `/gateway/counter/action/add?${GET}&rvt-key=a&rvt-key=a`],
    ["400 guard/query_duplicate_param", `/gateway/counter/action/add?${GET}&rvt-key=a&%72vt-key=a`],
    ["400 guard/query_duplicate_param", `/gateway/counter/action/add?${GET_OR_CREATE}&rvt-runner=a&rvt-pool=a`],
    ["400 actor/invalid_name", `/gateway//action/add?${GET}`],
    ["400 actor/invalid_name", `/gateway/${"n".repeat(65)}/action/add?${GET}`],
    ["400 actor/key_too_large", `/gateway/counter/action/add?${GET}&rvt-key=${"k".repeat(129)}`],
    ["404 actor/not_registered", `/gateway/nobody/action/add?${GET}`],
    ["404 actor/not_registered", `/gateway/constructor/action/add?${GET}`],
    ["404 guard/no_route", `/gateway/counter/other/add?${GET}`],
    ["404 guard/no_route", `/gateway/counter/action/a/b?${GET}`],
    ["404 guard/no_route", `/gateway/counter/action?${GET}`],
    ["404 guard/no_route", "/gateway/"],
    ["404 guard/no_route", "/gateway"],
    ["400 actor/invalid_request", `/gateway/counter/connect?${GET}`],
    ["400 guard/query_invalid_params", "/gateway/counter/request/a/b"],
  ])("is answered %s: %s", async (error, path) => {
    const objects = new FakeObjects();
    expect(await errorOf(await routerOver(objects)(path, POST))).toBe(error);
    expect(objects.calls).toEqual([]);
  });

  test.each<[string, string, Record<string, string>?]>([
    ["400 encoding/invalid", "{"],
    ["400 encoding/invalid", '{"args":[["$Unknown",1]]}'],
    ["400 encoding/invalid", "{}{}"],
    ["400 actor/invalid_request", "[1]"],
    ["400 actor/invalid_request", "null"],
    ["400 actor/invalid_request", '{"args":{"0":1}}'],
    ["400 actor/invalid_request", '{"args":"ab"}'],
    ["400 encoding/unsupported", "{}", { "x-rivet-encoding": "xml" }],
    ["400 encoding/invalid", "{}", { "x-rivet-encoding": "bare" }],
    ["400 actor/invalid_request", "{}", { "x-rivet-conn-params": "{" }],
    ["413 request/too_large", "{}", { "x-rivet-conn-params": JSON.stringify("x".repeat(4095)) }],
  ])("is answered %s: body %.40s", async (error, body, headers = {}) => {
    const objects = new FakeObjects();
    expect(await errorOf(await postAction(routerOver(objects), body, headers))).toBe(error);
    expect(objects.calls).toEqual([]);
  });

  test("of a wrong method is told the right one", async () => {
    const response = await routerOver(new FakeObjects())(`/gateway/counter/action/add?${GET}`, {
      method: "PUT",
      body: "{}",
    });
    expect([await errorOf(response), response.headers.get("allow")]).toEqual(["405 actor/method_not_allowed", "POST"]);
  });

  test("of an actor that is not registered learns no other names", async () => {
    const text = await (await routerOver(new FakeObjects())(`/gateway/nobody/action/add?${GET}`, POST)).text();
    expect(text).toContain("nobody");
    expect(text).not.toMatch(/counter|chat/);
  });

  test("of another namespace is refused if there is only one", async () => {
    const send = routerOver(new FakeObjects(), { namespace: "prod" });
    expect(await errorOf(await send(`/gateway/counter/action/add?${GET}`, POST))).toBe("404 actor/namespace_not_found");
  });

  test.each(["", "{}", '{"args":null}'])("is none if it has no arguments: %j", async (body) => {
    const objects = new FakeObjects();
    expect((await postAction(routerOver(objects), body)).status).toBe(200);
    expect(objects.lastArgs).toEqual([]);
  });
});

describe("keys", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("", ",", "/", "\\", '"', "a,b", "a", "b", "\\0", "%2C", "é\n"),
  );

  test("2,000 different ones are 2,000 different objects", async () => {
    const objects = new FakeObjects(() => succeed(null));
    const send = routerOver(objects);
    const keys = new Map(fc.sample(fc.array(part, { maxLength: 4 }), 2600).map((key) => [JSON.stringify(key), key]));
    const distinct = [...keys.values()].slice(0, 2000);
    for (const key of distinct) {
      const response = await send(
        `/gateway/chat/action/x?${GET}&rvt-key-json=${encodeURIComponent(JSON.stringify(key))}`,
        POST,
      );
      expect(response.status).toBe(200);
      expect(objects.last.envelope.address.key).toEqual(key);
      expect(objects.last.object).toBe(objectName("chat", key));
    }
    expect(new Set(objects.calls.map(({ object }) => object)).size).toBe(distinct.length);
  });
});

test("the echo of the fake proves that bytes went through", async () => {
  const objects = new FakeObjects(echo);
  expect(await (await postAction(routerOver(objects), '{"args":[1,"two"]}')).json()).toEqual({ output: [1, "two"] });
});

test.each(["0195f3a2-7c1d-7e55-9b1a-2f4f7d9b6a10", "a".repeat(40)])(
  "an id that is none of ours, %s, is of an actor that does not exist",
  async (id) => {
    const response = await routerOver(new FakeObjects())(`/gateway/${id}/action/x`, {
      method: "POST",
      body: '{"args":[]}',
    });
    expect([response.status, await response.json()]).toMatchObject([404, { group: "actor", code: "not_found" }]);
  },
);
