import { encodeTaggedCbor, formatBase64Url, wireCodec, type Encoding } from "../../src/protocol/index.js";

/** A request before it is one: all of it can be changed, and not every change can be sent. */
export interface RawRequest {
  method: string;
  path: string;
  query: string[];
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | undefined;
}

type Random = () => number;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));
const ENCODINGS: readonly Encoding[] = ["json", "cbor", "bare"];
const VALUES: readonly unknown[] = [
  1,
  "text",
  null,
  undefined,
  10n,
  new Date(5),
  new Map([[1, 2]]),
  new Set(["a"]),
  new Uint8Array([1, 2]),
  { a: [1, { b: 2 }] },
  ["$x", 1],
  -0,
  NaN,
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"];
const PARAMETERS = ["nonsense", "key", "key-json", "method", "input", "region", "token", "skip-ready-wait"];
const TEXTS = [
  "",
  "%",
  "%ff",
  "%00",
  "%C3%28",
  "..",
  ".",
  "//",
  "%2F",
  "@",
  "a@b",
  "?",
  "&",
  "=",
  "+",
  "é",
  "\ud800",
  "__proto__",
  "constructor",
  "null",
  "[]",
  "[1]",
  '["a"]',
  "[[",
  '["',
  "9".repeat(400),
  "x".repeat(129),
  "x".repeat(5000),
  "-1",
  "1e999",
  "true",
  "\\",
  "\\0",
  "%5C0",
  "rvt-key",
  "$Set",
];
const JSON_TEXTS = [
  "",
  "{",
  "[",
  "null",
  "[]",
  "1",
  '"',
  "{}{}",
  '{"args":[["$Unknown",1]]}',
  '{"args":[["$BigInt","x"]]}',
  `{"args":[["$BigInt","${"9".repeat(20_000)}"]]}`,
  '{"args":[["$Uint8Array","!"]]}',
  '{"args":[["$Date","x"]]}',
  '{"args":[["$Map",[1]]]}',
  '{"args":[["$Set",1]]}',
  '{"args":{"length":3}}',
  '{"__proto__":{"args":[1]}}',
  '{"args":[{"__proto__":1}]}',
  `{"args":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  '{"args":[1e400]}',
  '{"args":[],"args":[1]}',
  '\ufeff{"args":[1]}',
  '{"body":1,"wait":"yes"}',
  '{"body":1,"wait":true,"timeout":-1}',
  '{"body":1,"wait":true,"timeout":1e300}',
  '{"body":1,"wait":true,"timeout":null}',
  '{"body":1,"name":"other"}',
  '{"name":5}',
  '{"name":"counter","key":5}',
  '{"name":"counter","key":"a\\\\x"}',
  '{"name":"counter","key":"a","input":"!!"}',
  '{"name":"counter","key":"a","input":"gg=="}',
  '{"name":"nobody","key":"a"}',
  '{"name":"","key":""}',
  '{"name":["counter"]}',
];
const HEADERS: readonly [name: string, values: readonly string[]][] = [
  ["x-rivet-encoding", ["json", "cbor", "bare", "xml", "", "JSON", "json, cbor"]],
  ["x-perdure-json", ["1", "0", "x"]],
  ["x-rivet-conn-params", ["{", "null", '{"a":1}', '["$Unknown",1]', "é", `"${"x".repeat(5000)}"`]],
  ["x-rivet-target", ["actor", "runner", ""]],
  ["x-rivet-actor", ["", "x", `${"0".repeat(64)}-${"0".repeat(16)}`]],
  ["content-length", ["-1", "x", "5", "99999999999"]],
  ["content-type", ["application/json", "text/html", ""]],
  ["authorization", ["Bearer x", "Basic eA==", ""]],
  ["origin", ["https://app.example", "null", "x"]],
  ["x-rivet-token", ["", "t"]],
];

/** One of the requests that real clients make, for actors `counter`, `jobs` and `inbox`. */
export function validRequest(random: Random, actorId: string): RawRequest {
  const encoding = pick(random, ENCODINGS);
  const codec = wireCodec(encoding);
  const headers: Record<string, string> = { "x-rivet-encoding": encoding, "content-type": codec.contentType };
  if (random() < 0.3) headers["x-perdure-json"] = "1";
  if (random() < 0.2) headers["x-rivet-conn-params"] = '{"user":"ann"}';
  const value = encoding === "json" && random() < 0.5 ? 1 : pick(random, VALUES);
  const kind = Math.floor(random() * 11);
  if (kind < 4) {
    const action = pick(random, ["echo", "set", "users.add"]);
    return {
      method: "POST",
      ...addressOf(random, "counter", `action/${action}`, actorId),
      headers,
      body: codec.actionRequest.encode({ args: [value] }, { extended: true }),
    };
  }
  if (kind < 7) {
    const actor = pick(random, ["jobs", "inbox"]);
    const wait = random() < 0.3;
    const body = codec.queueSendRequest.encode(
      { body: value, name: "work", wait, ...(wait && { timeout: Math.floor(random() * 50) }) },
      { extended: true },
    );
    return { method: "POST", ...addressOf(random, actor, "queue/work", undefined), headers, body };
  }
  if (kind === 7) {
    const spec = {
      name: "counter",
      key: `r${Math.floor(random() * 5)}`,
      runner_name_selector: "default",
      crash_policy: "sleep",
      input: formatBase64Url(encodeTaggedCbor(value)),
    };
    return {
      method: "PUT",
      path: "/actors",
      query: ["namespace=default"],
      headers,
      body: bytesOf(JSON.stringify(spec)),
    };
  }
  if (kind === 8)
    return {
      method: "GET",
      path: "/actors",
      query: random() < 0.5 ? ["namespace=default", "name=counter", "key=a"] : [`actor_ids=${actorId}`],
      headers,
      body: undefined,
    };
  if (kind === 9) {
    const [method, path] = pick(random, [
      ["GET", "/actors/names"],
      ["DELETE", `/actors/${actorId}`],
      ["POST", `/actors/${actorId}/sleep`],
      ["POST", `/actors/${actorId}/reschedule`],
    ] as const);
    return {
      method,
      path,
      query: ["namespace=default"],
      headers: { ...headers, authorization: "Bearer secret" },
      body: undefined,
    };
  }
  if (random() < 0.4) {
    return {
      method: pick(random, ["GET", "POST", "PUT"]),
      ...addressOf(random, random() < 0.8 ? "counter" : "inbox", "request/a/b", actorId),
      headers,
      body: bytesOf("any"),
    };
  }
  const path = pick(random, ["/metadata", "/health", "/actors/names", "/request/a", "/gateway/counter/connect"]);
  return {
    method: "GET",
    path,
    query: ["namespace=default"],
    headers: { ...headers, "x-rivet-target": "actor", "x-rivet-actor": actorId },
    body: undefined,
  };
}

function addressOf(
  random: Random,
  actor: string,
  rest: string,
  actorId: string | undefined,
): Pick<RawRequest, "path" | "query"> {
  if (actorId !== undefined && random() < 0.2) return { path: `/gateway/${actorId}/${rest}`, query: [] };
  const key = `k${Math.floor(random() * 5)}`;
  const query = [
    "rvt-namespace=default",
    random() < 0.5 ? `rvt-key=${key}` : `rvt-key-json=${encodeURIComponent(JSON.stringify([key]))}`,
    "mine=1",
  ];
  if (random() < 0.3) return { path: `/gateway/${actor}/${rest}`, query: [...query, "rvt-method=get"] };
  return {
    path: `/gateway/${actor}/${rest}`,
    query: [
      ...query,
      "rvt-method=getOrCreate",
      "rvt-runner=default",
      "rvt-crash-policy=sleep",
      `rvt-input=${formatBase64Url(encodeTaggedCbor({ n: 1 }))}`,
    ],
  };
}

type Mutation = (request: RawRequest, random: Random) => void;

const MUTATIONS: readonly Mutation[] = [
  (request, random) => void (request.method = pick(random, METHODS)),
  (request, random) => void (request.path = spliced(request.path, random)),
  (request, random) => void (request.path = withSegment(request.path, random)),
  (request, random) => void request.query.splice(Math.floor(random() * request.query.length), 1),
  (request, random) => void request.query.push(pick(random, request.query.length > 0 ? request.query : [""])),
  (request, random) => void request.query.push(`rvt-${pick(random, PARAMETERS)}=${pick(random, TEXTS)}`),
  (request, random) => {
    const at = Math.floor(random() * request.query.length);
    const name = request.query[at]?.split("=")[0] ?? "x";
    request.query[at] =
      `${name}=${random() < 0.5 ? pick(random, TEXTS) : encodeURIComponent(wellFormed(pick(random, TEXTS)))}`;
  },
  (request, random) => {
    const [name, values] = pick(random, HEADERS);
    request.headers[name] = pick(random, values);
  },
  (request) => void delete request.headers["x-rivet-encoding"],
  (request, random) => void (request.body = bytesOf(pick(random, JSON_TEXTS))),
  (request, random) => void (request.body = flipped(request.body ?? new Uint8Array(1), random)),
  (request, random) => void (request.body = flipped(flipped(request.body ?? new Uint8Array(1), random), random)),
  (request, random) => void (request.body = request.body?.slice(0, Math.floor(random() * request.body.length))),
  (request, random) => void (request.body = joined(request.body ?? new Uint8Array(0), randomBytes(random, 40))),
  (request, random) => void (request.body = randomBytes(random, 200)),
  (request) => void (request.body = new Uint8Array(1_100_000)),
  (request) => void (request.body = undefined),
];

/** Changes a valid request in one to three ways. */
export function mutate(request: RawRequest, random: Random): RawRequest {
  const mutated: RawRequest = { ...request, query: [...request.query], headers: { ...request.headers } };
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) pick(random, MUTATIONS)(mutated, random);
  return mutated;
}

/** The request; `undefined` if the platform would not let anybody send it. */
export function toRequest({ method, path, query, headers, body }: RawRequest, origin: string): Request | undefined {
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  const hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
  try {
    return new Request(origin + path + search, { method, headers, ...(hasBody && { body }) });
  } catch {
    return undefined;
  }
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

function spliced(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1));
  return text.slice(0, at) + (random() < 0.7 ? pick(random, TEXTS) : "") + text.slice(at + Math.floor(random() * 4));
}

function withSegment(path: string, random: Random): string {
  const segments = path.split("/");
  segments[Math.floor(random() * segments.length)] =
    random() < 0.5 ? pick(random, TEXTS) : encodeURIComponent(wellFormed(pick(random, TEXTS)));
  return segments.join("/");
}

function wellFormed(text: string): string {
  return text.toWellFormed();
}

function flipped(bytes: Uint8Array<ArrayBuffer>, random: Random): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  if (copy.length > 0) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return copy;
}

function randomBytes(random: Random, maxLength: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: Math.floor(random() * maxLength) }, () => Math.floor(random() * 256));
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
