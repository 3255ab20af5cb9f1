import { AsyncLocalStorage } from "node:async_hooks";

/** What the code of a replay has fetched. */
interface Fetches {
  first: string | undefined;
}

const replays = new AsyncLocalStorage<Fetches>();
let guards = 0;
let original = globalThis.fetch;

const refusing: typeof fetch = (input, init) => {
  const fetches = replays.getStore();
  if (!fetches) return original(input, init);
  const url = typeof input === "object" && "url" in input ? input.url : String(input);
  fetches.first ??= url;
  return Promise.reject(new Error(`fetch("${url}") was called in a replay`));
};

/** Runs a replay during which `fetch` sends nothing. Gives its result, and the first address that its code fetched. */
export async function withoutFetch<T>(
  replay: () => Promise<T>,
): Promise<{ readonly result: T; readonly fetched: string | undefined }> {
  const fetches: Fetches = { first: undefined };
  if (guards === 0) {
    original = globalThis.fetch;
    globalThis.fetch = refusing;
  }
  guards += 1;
  try {
    const result = await replays.run(fetches, replay);
    return { result, fetched: fetches.first };
  } finally {
    guards -= 1;
    // Somebody may have replaced it meanwhile.
    if (guards === 0 && globalThis.fetch === refusing) globalThis.fetch = original;
  }
}
