/** A promise with what settles it. */
export interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
}

/**
 * A promise that is settled from outside. A rejection counts as handled, also if nobody awaits the promise; `onReject` is
 * told of it.
 *
 * @example
 *     const { promise, resolve } = promiseWithResolvers<string>((reason) => console.warn(reason));
 */
export function promiseWithResolvers<T>(onReject: (reason?: any) => void = () => {}): PromiseWithResolvers<T> {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason?: unknown) => void;
  const promise = new Promise<T>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  promise.catch(onReject);
  return { promise, resolve, reject };
}
