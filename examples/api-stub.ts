const HOST = "api.example.com";
/** How long an answer takes, ms. */
const LATENCY_MS = 20;
/** What the slow one takes more. */
const SLOW_MS = 3_000;
const COUNTS: Readonly<Record<string, number>> = { users: 120, orders: 45, revenue: 9_800, invoices: 17 };

interface Call {
  readonly method: string;
  /** Without its first slash. */
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly signal: AbortSignal;
}

/** For callers that do not say what the counter stands at. */
let counter = 0;

/**
 * Stands in for https://api.example.com, the service that the examples call: replaces `fetch` for that one host.
 * Everything else goes out as usual. For demos and tests only.
 *
 * It remembers nothing that matters, since it dies with the server: an answer depends on the request alone.
 */
export function stubApi(): void {
  const platformFetch = globalThis.fetch;
  globalThis.fetch = (async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.hostname !== HOST) return platformFetch(request);
    const body: unknown = await request.json().catch(() => ({}));
    return answer({
      method: request.method,
      path: url.pathname.slice(1),
      body: body as Record<string, unknown>,
      signal: request.signal,
    });
  }) as typeof fetch;
}

async function answer(call: Call): Promise<Response> {
  const { method, path, body, signal } = call;
  await pause(LATENCY_MS, signal);
  const route = `${method} ${path}`;
  if (route === "GET carts/main") return Response.json({ subtotal: 60 });
  if (route === "POST tax/quote") return Response.json({ tax: Math.round(Number(body["subtotal"]) * 8.5) / 100 });
  if (route === "POST invoices") return Response.json({ id: newId("invoice") });
  if (route === "POST counter/apply") {
    const before = typeof body["value"] === "number" ? body["value"] : counter;
    counter = before + Number(body["delta"]);
    return Response.json({ nextValue: counter, operationId: newId("operation") });
  }
  if (route === "POST workers/session") return Response.json({ sessionId: newId("session") });
  if (route === "POST workers/process") return Response.json({ appliedAmount: Number(body["amount"]) });
  if (/^DELETE workers\/session\/[^/]+$/.test(route)) return Response.json({});
  if (/^POST auctions\/[^/]+(\/finalize)?$/.test(route)) return Response.json({});
  if (/^POST imports\/\d+$/.test(route)) return Response.json({ rows: 100 });
  if (route === "POST charges") return charge(call);
  const [, notebook] = /^GET notebooks\/([^/]+)$/.exec(route) ?? [];
  if (notebook !== undefined)
    return Response.json({ texts: [`from notebook ${notebook}: first`, `from notebook ${notebook}: second`] });
  const count = method === "GET" ? COUNTS[path] : undefined;
  if (count === undefined) return Response.json({ error: `no ${route}` }, { status: 404 });
  if (path === "revenue") await pause(SLOW_MS, signal);
  return Response.json({ count });
}

/** An order whose id begins with "flaky" fails the first time, hangs the second time, and goes through the third. */
async function charge({ body, signal }: Call): Promise<Response> {
  const orderId = String(body["orderId"]);
  const attempt = Number(body["attempt"]);
  if (orderId.startsWith("flaky") && attempt === 1) return Response.json({ error: "try again" }, { status: 503 });
  if (orderId.startsWith("flaky") && attempt === 2) await pause(60_000, signal);
  return Response.json({ chargeId: `charge-${orderId}` });
}

function newId(kind: string): string {
  return `${kind}-${crypto.randomUUID().slice(0, 8)}`;
}

/** Waits, and rejects at once when the caller goes. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, durationMs);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
