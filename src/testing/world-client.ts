import { decodeValue, encodeValue } from "../protocol/index.js";

type Call = (name: string, key: readonly string[], action: string, args: unknown[]) => Promise<unknown>;

/** What `c.client()` gives an actor of a world: actions of its other actors. `beforeCall` runs before each call leaves. */
export function worldClient(call: Call, beforeCall: () => void): unknown {
  const handle = (name: string, key: string | readonly string[] = []): unknown =>
    new Proxy(
      {},
      {
        get: (_, action) => {
          if (typeof action !== "string" || action === "then") return undefined;
          return async (...args: unknown[]) => {
            beforeCall();
            return call(name, typeof key === "string" ? [key] : key, action, decodeValue(encodeValue(args)) as unknown[]);
          };
        },
      },
    );
  return new Proxy(
    {},
    { get: (_, name) => (typeof name === "string" && name !== "then" ? { getOrCreate: (key?: string | string[]) => handle(name, key) } : undefined) },
  );
}
