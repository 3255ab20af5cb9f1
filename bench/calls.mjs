// How both sides are called over HTTP: the paths, and Node's `fetch`.

/**
 * @typedef {{ path: string, body: unknown }} Call
 * @typedef {import("./side.mjs").Side} Side
 */

/**
 * A method of an object written by hand, or an action of an actor: both take the same names and arguments.
 *
 * @param {Side} side
 * @param {string} actor
 * @param {string} key
 * @param {string} name
 * @param {unknown[]} args
 * @returns {Call}
 */
export function action(side, actor, key, name, ...args) {
  const path = side.name === "bare" ? `/${name}/${actor}-${key}` : gateway(actor, key, "action", name);
  return { path, body: { args } };
}

/**
 * A message to an actor's queue; by hand, a method `send` or, with `wait`, `request`.
 *
 * @param {Side} side
 * @param {string} actor
 * @param {string} key
 * @param {unknown} body
 * @param {{ wait?: boolean }} [options]
 * @returns {Call}
 */
export function message(side, actor, key, body, { wait = false } = {}) {
  if (side.name === "bare") return { path: `/${wait ? "request" : "send"}/${actor}-${key}`, body: { args: [body] } };
  return { path: gateway(actor, key, "queue", "work"), body: wait ? { body, wait } : { body } };
}

/**
 * The rows an object has written, and the alarms it has set, since it is in memory.
 *
 * @param {Side} side
 * @param {string} actor
 * @param {string} key
 * @returns {Promise<{ rows: number, alarms: number, found: number }>} `found` is of our side alone
 */
export function written(side, actor, key) {
  return beside(side, "written", actor, key);
}

/**
 * Takes an object out of memory.
 *
 * @param {Side} side
 * @param {string} actor
 * @param {string} key
 */
export async function evict(side, actor, key) {
  await beside(side, "evict", actor, key).catch(() => {});
}

/**
 * What the bench asks of the object itself, beside the actor that is in it.
 *
 * @param {Side} side
 * @param {string} method
 * @param {string} actor
 * @param {string} key
 */
function beside(side, method, actor, key) {
  if (side.name === "bare") return call(side, action(side, actor, key, method));
  return call(side, { path: `/object/${method}/${actor}/${key}`, body: {} });
}

/**
 * @param {Side} side
 * @param {Call} call
 * @returns {Promise<any>}
 */
export async function call(side, { path, body }) {
  const response = await fetch(side.url + path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${side.name}${path} answered ${response.status}: ${text}`);
  return JSON.parse(text).output;
}

/**
 * @param {string} actor
 * @param {string} key
 * @param {string} verb
 * @param {string} name
 */
function gateway(actor, key, verb, name) {
  return `/gateway/${actor}/${verb}/${name}?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${key}`;
}
