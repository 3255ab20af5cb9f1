/** A signal that aborts with others until it is disposed. */
export interface JoinedSignal extends AbortSignal {
  /** Stops listening to the joined signals, so that it never aborts. Not needed once it has aborted. */
  dispose(): void;
}

/**
 * Returns a signal that aborts when the first of `signals` does, with its reason. Null and undefined are skipped;
 * without signals it never aborts. It listens until it aborts or is disposed: dispose it when the signals outlive the
 * work.
 *
 * @example
 *     const signal = joinSignals(c.abortSignal, AbortSignal.timeout(5_000));
 *     const response = await fetch(url, { signal }).finally(() => signal.dispose());
 */
export function joinSignals(...signals: (AbortSignal | null | undefined)[]): JoinedSignal {
  const controller = new AbortController();
  const sources = signals.filter((signal) => signal !== null && signal !== undefined);
  const dispose = (): void => {
    for (const source of sources) source.removeEventListener("abort", onAbort);
  };
  const onAbort = (): void => {
    dispose();
    controller.abort(sources.find((source) => source.aborted)?.reason);
  };
  if (sources.some((source) => source.aborted)) onAbort();
  else for (const source of sources) source.addEventListener("abort", onAbort, { once: true });
  return Object.assign(controller.signal, { dispose });
}
