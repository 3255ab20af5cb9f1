import type { World } from "../../src/testing/index.js";

/** Waits for something that may need the clock to move. */
export async function together<T>(world: World, something: Promise<T>): Promise<T> {
  let done = false;
  void something.finally(() => {
    done = true;
  });
  for (let rounds = 0; rounds < 1_000 && !done; rounds += 1) await world.pass(1);
  return something;
}
