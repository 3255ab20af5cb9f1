/** A signal that aborts with others, until it is disposed of. */
export interface JoinedSignal extends AbortSignal {
  /** Lets go of the signals that were joined: it aborts no more. Not needed after it has aborted. */
  dispose(): void;
}

/**
 * A signal that aborts when the first of `signals` does, with its reason. What is null or undefined is left out; with
 * nothing left it never aborts. It listens to the others until it has aborted or `dispose()` is called: do that when the
 * signals live longer than the work.
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
