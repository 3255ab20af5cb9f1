// How a case looks at what it awaits.
import assert from "node:assert/strict";
import { showValue } from "./show-value.ts";

/**
 * Resolves with the error, if it has this group and code.
 *
 * @param {Promise<unknown>} promise
 * @param {string | undefined} group
 * @param {string} code
 * @param {RegExp} [message]
 * @returns {Promise<any>}
 */
export async function rejects(promise, group, code, message = /./) {
  const error = await promise.then(
    (value) => assert.fail(`resolved with ${showValue(value)}`),
    (reason) => reason,
  );
  if (error instanceof assert.AssertionError) throw error;
  assert.equal(
    `${group === undefined ? "" : `${error.group}/`}${error.code}`,
    `${group === undefined ? "" : `${group}/`}${code}`,
    String(error),
  );
  assert.match(error.message, message);
  return error;
}

/**
 * @template T
 * @param {number} seconds
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function withinSeconds(seconds, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${seconds} s`)), seconds * 1000);
  });
  try {
    return /** @type {T} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Looks again until it is so: of what happens on the server nobody is told.
 *
 * @param {() => Promise<unknown> | unknown} read
 * @param {unknown} wanted
 */
export async function becomes(read, wanted) {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const value = await read();
    try {
      return assert.deepEqual(value, wanted);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
