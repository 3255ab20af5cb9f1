/** The longest that a sender may wait for a reply, in ms: a day. Durable waits are unlimited. */
export const MAX_SEND_WAIT_MS = 86_400_000;

/** How much of an unknown option's name an error repeats. */
const MAX_SHOWN_NAME = 100;

/**
 * Copies an options object, own properties only: no option is read through a prototype. Unknown names are an error, so that a
 * typo does not go unnoticed. A property that is undefined counts as omitted.
 *
 * @throws the error that `fail` returns, when `options` is not an object or has an unknown property
 */
export function readOptions<O extends object>(
  what: string,
  options: O | undefined,
  known: readonly (keyof O & string)[],
  fail: (problem: string) => Error,
): O {
  const own = Object.create(null) as O;
  if (options === undefined) return own;
  if (typeof options !== "object" || options === null) throw fail(`The options of ${what} must be an object`);
  for (const name of Object.keys(options) as (keyof O & string)[]) {
    if (options[name] === undefined) continue;
    if (!known.includes(name)) throw fail(`${what} has no option ${JSON.stringify(name.slice(0, MAX_SHOWN_NAME))}`);
    own[name] = options[name];
  }
  return own;
}
