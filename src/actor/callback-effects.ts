import { Effects, isThenable } from "../workflow/index.js";

/** What actions and hooks have begun, by their contexts. */
const effects = new WeakMap<object, Effects>();

/** What the callback with this context begins beside its own course: messages whose validators answer later. */
export function effectsOf(context: object): Effects {
  let found = effects.get(context);
  if (!found) effects.set(context, (found = new Effects()));
  return found;
}

/** What a callback gives, once all that it began has ended; not a promise if there is nothing to wait for. */
export function withEffects(context: object, returned: unknown): unknown {
  if (isThenable(returned)) return afterIt(context, returned);
  const begun = effects.get(context)?.settled();
  return begun ? begun.then(() => returned) : returned;
}

async function afterIt(context: object, returned: PromiseLike<unknown>): Promise<unknown> {
  const output = await returned;
  await effects.get(context)?.settled();
  return output;
}

/** The callback is over: what its context begins from here on is nobody's to wait for. */
export function closeEffects(context: object): void {
  effects.get(context)?.close();
}
