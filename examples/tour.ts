/** What each example's client gets from whoever runs it: `npm run demo`, or a test. */
export interface Tour {
  readonly endpoint: string;
  /** One that no earlier run has used. */
  readonly key: string;
  /** Tells what happens, while it happens. */
  say(text: string): void;
  /** Reads until the value is as wanted, also while the server is away. Rejects after some seconds. */
  until<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T>;
  /** Kills the server without warning, starts it again, and resolves when it is back. */
  crash(): Promise<void>;
}

export interface TourResult {
  readonly result: string;
  /** What the crash did not take away. */
  readonly survived?: string;
}

/** Throws if the example did not do what it is for. */
export function check(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(`Not so: ${what}`);
}
