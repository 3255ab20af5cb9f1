import { replaceGlobals } from "../surroundings/globals.js";
import { inPlace } from "../surroundings/place.js";

/**
 * Runs a replay in a place of its own, in which `fetch` sends nothing, and `env` of `cloudflare:workers` is this one. Gives its
 * result, and the first address that its code fetched.
 */
export async function withoutFetch<T>(
  env: object,
  replay: () => Promise<T>,
): Promise<{ readonly result: T; readonly fetched: string | undefined }> {
  let fetched: string | undefined;
  const refuse = async ({ url }: Request): Promise<never> => {
    fetched ??= url;
    throw new Error(`fetch("${url}") was called in a replay`);
  };
  const giveBack = replaceGlobals();
  try {
    const result = await inPlace({ process: undefined, env, now: () => undefined, fetch: refuse }, replay);
    return { result, fetched };
  } finally {
    giveBack();
  }
}
