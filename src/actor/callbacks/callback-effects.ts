import { Effects, isThenable } from "../../protocol/index.js";

/** What actions and hooks have begun, by their contexts. */
const effects = new WeakMap<object, Effects>();

/**
 * What the callback with this context begins beside its own course: messages whose validators answer later. Undefined for one
 * whose end nobody waits for, a run handler or a socket's: what it begins settles as any promise.
 */
export function effectsOf(context: object): Effects | undefined {
  return effects.get(context);
}

/** Calls a callback; gives what it gives, once all that it began has ended: not a promise if there is nothing to wait for. */
export function withEffects(context: object, callback: () => unknown): unknown {
  const begun = new Effects();
  effects.set(context, begun);
  const returned = callback();
  if (isThenable(returned)) return afterIt(begun, returned);
  const open = begun.settled();
  return open ? open.then(() => returned) : returned;
}

async function afterIt(begun: Effects, returned: PromiseLike<unknown>): Promise<unknown> {
  const output = await returned;
  await begun.settled();
  return output;
}

/** The callback is over: what its context begins from here on is nobody's to wait for. */
export function closeEffects(context: object): void {
  effects.get(context)?.close();
}
