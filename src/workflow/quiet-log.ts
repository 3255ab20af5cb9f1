import type { EngineLog } from "./ports.js";

/** Wraps a logger so that it drops lines while `isReplaying`: they were logged when they first happened. */
export function quietLog<L extends EngineLog>(log: L, isReplaying: () => boolean): L {
  return new Proxy(log, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        // A child logger is as quiet as its parent.
        if (key === "child") return quietLog(Reflect.apply(member, target, args) as L, isReplaying);
        return isReplaying() ? undefined : (Reflect.apply(member, target, args) as unknown);
      };
    },
  });
}
