import type { EngineLog } from "./ports.js";

/** The same log, but that what is said while `isReplaying` is said to nobody: it was said when it happened. */
export function quietLog<L extends EngineLog>(log: L, isReplaying: () => boolean): L {
  return new Proxy(log, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        // A logger with more fields is as quiet as this one.
        if (key === "child") return quietLog(Reflect.apply(member, target, args) as L, isReplaying);
        return isReplaying() ? undefined : (Reflect.apply(member, target, args) as unknown);
      };
    },
  });
}
