/** True for promises and other objects with a `then` method. Throws what a getter of `then` throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
