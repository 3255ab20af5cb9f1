import { promisify } from "node:util";
import { expect, it } from "vitest";
import { stagedWorld } from "./staged-world.js";

it("timers of user code are real, with arguments and promisified", async () => {
  await using world = await stagedWorld();
  world.code = async () => {
    const given = await new Promise((resolve) => setTimeout(resolve, 1, "given"));
    await promisify(setTimeout)(1);
    let rounds = 0;
    await new Promise<void>((resolve) => {
      const interval = setInterval(() => {
        rounds += 1;
        if (rounds < 2) return;
        clearInterval(interval);
        resolve();
      }, 1);
    });
    const never = setTimeout(() => (rounds = 99), 1);
    clearTimeout(never);
    return [given, rounds];
  };
  expect(await world.run()).toEqual(["given", 2]);
});

it("timers of a process that has died do not fire", async () => {
  await using world = await stagedWorld();
  const fired: string[] = [];
  world.code = () => {
    setTimeout(() => fired.push("timeout"), 1);
    const interval = setInterval(() => fired.push("interval"), 1);
    interval.unref();
  };
  await world.run();
  world.crash();
  // One of the next life, set later for the same time: when it fires, those were due.
  world.code = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
  await world.run();
  expect(fired).toEqual([]);
});
