import process from "node:process";

/** Shows on a terminal how many worlds of how many are done. Says nothing elsewhere. */
export function progressOf(total: number): { step(done: number): void; end(): void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { step: () => {}, end: () => {} };
  return {
    step: (done) => void stderr.write(`\rcrashEverywhere: ${done} of ${total}`),
    end: () => void stderr.write("\r\u001b[K"),
  };
}
