/** A promise with the functions that settle it. */
export interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
}

/**
 * Returns a promise that is settled from outside. A rejection counts as handled even if nobody awaits the promise;
 * `onReject` is called with its reason.
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
