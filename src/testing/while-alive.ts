/**
 * What the world outside does for a process, as it looks from inside: a process that has died or left memory begins nothing
 * any more, and hears of nothing. Its code, which runs on here, then stands at its next `await` for good.
 */
export function whileAlive<T>(isAlive: () => boolean, begin: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (!isAlive()) return;
    begin().then(
      (value) => {
        if (isAlive()) resolve(value);
      },
      (error: unknown) => {
        if (isAlive()) reject(error);
      },
    );
  });
}

/** Runs what precedes such a beginning. For a process that is gone, or that it ends, it neither does anything nor throws. */
export function whileItLives(isAlive: () => boolean, run: () => void): () => void {
  return () => {
    try {
      if (isAlive()) run();
    } catch (error) {
      if (isAlive()) throw error;
    }
  };
}
