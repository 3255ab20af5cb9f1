/** How long a sender may wait for a reply, ms: a day. Durable waits have no bound. */
export const MAX_SEND_WAIT_MS = 86_400_000;

/** Longest text of an option's name that an error repeats. */
const MAX_SHOWN_NAME = 100;

/**
 * What was given as options, own properties only: no option is read through a prototype. Names that nobody knows are refused,
 * so that a mistyped one is no option without effect. A member that is undefined counts as left out.
 *
 * @throws what `fail` makes of the problem
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
