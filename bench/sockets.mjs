// What a broadcast costs: as many sockets as asked for to one object, by hand and ours, each in each turn.

/** @typedef {{ open: () => Promise<() => Promise<void>>, broadcast: () => Promise<unknown> }} Side */

/**
 * Milliseconds until all sockets are open and subscribed, until the broadcast's call is answered, and until the last socket
 * has its event.
 *
 * @param {string} url
 * @param {number} count
 * @param {{
 *   bare: (method: string, name: string, ...args: unknown[]) => Promise<unknown>,
 *   act: (actor: string, key: string, action: string, ...args: unknown[]) => Promise<unknown>,
 * }} calls
 * @param {number} rounds
 */
export async function measureSockets(url, count, { bare, act }, rounds) {
  const wsUrl = url.replace(/^http/, "ws");
  const byHand = await openAll(count, () => new WebSocket(`${wsUrl}/bare-socket/room`));
  const ours = await openAll(
    count,
    () =>
      new WebSocket(`${wsUrl}/gateway/room/connect?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=room`, [
        "rivet",
        "rivet_encoding.json",
      ]),
    (socket) =>
      socket.send(JSON.stringify({ body: { tag: "SubscriptionRequest", val: { eventName: "n", subscribe: true } } })),
  );
  // An action that comes after the subscription of the last one shows that all are served.
  await act("room", "room", "count");
  /** @type {number[][]} */
  const samples = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    samples[0]?.push(await timed(() => byHand.all(() => bare("broadcast", "room", `${round}`))));
    samples[1]?.push(await timed(() => ours.all(() => act("room", "room", "tell", round))));
  }
  for (const socket of [...byHand.sockets, ...ours.sockets]) socket.close();
  return { openMs: [byHand.ms, ours.ms], broadcastMs: samples };
}

/**
 * @param {number} count
 * @param {() => WebSocket} open
 * @param {(socket: WebSocket) => void} [opened]
 */
async function openAll(count, open, opened = () => {}) {
  const startedAt = performance.now();
  /** @type {WebSocket[]} */
  const sockets = [];
  const messages = { count: 0, /** @type {() => void} */ full: () => {}, wanted: Number.POSITIVE_INFINITY };
  const isEvent = (/** @type {unknown} */ data) => !String(data).includes('"Init"');
  await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((resolve, reject) => {
          const socket = open();
          sockets.push(socket);
          socket.addEventListener("open", () => {
            opened(socket);
            resolve(undefined);
          });
          socket.addEventListener("error", () => reject(new Error("A socket could not be opened")));
          socket.addEventListener("message", ({ data }) => {
            if (!isEvent(data)) return;
            messages.count += 1;
            if (messages.count === messages.wanted) messages.full();
          });
        }),
    ),
  );
  /** @param {() => Promise<unknown>} begin */
  const all = async (begin) => {
    messages.count = 0;
    messages.wanted = count;
    const full = new Promise((resolve) => (messages.full = () => resolve(undefined)));
    await begin();
    await full;
  };
  return { sockets, ms: performance.now() - startedAt, all };
}

/** @param {() => Promise<unknown>} run */
async function timed(run) {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
