import { describe, expect, it } from "vitest";
import { CronSubject, HOUR_MS, MINUTE_MS, SECOND_MS } from "./cron-subject.js";

const job = { name: "j", interval: 5 * SECOND_MS, action: "ran" };

/** A subject whose job has had `times` occurrences. */
async function after(times: number, options: object = {}): Promise<CronSubject> {
  const subject = new CronSubject();
  await subject.call("every", { ...job, ...options });
  await subject.world.pass(times * 5 * SECOND_MS);
  return subject;
}

const pages = (subject: CronSubject): string[] => subject.keys.filter((key) => key.startsWith("h/")).sort();

describe("cron.history", () => {
  it("gives the newest twenty, newest first, or as many as are asked for (B26)", async () => {
    const subject = await after(45);
    const times = (await subject.history("j")).map(({ scheduledAt }) => scheduledAt);
    expect(times).toEqual(Array.from({ length: 20 }, (_, index) => subject.now - index * 5 * SECOND_MS));
    expect(await subject.history("j", 1)).toEqual([(await subject.history("j"))[0]]);
    expect(await subject.history("j", 33)).toHaveLength(33);
    expect(await subject.history("j", 1_000)).toHaveLength(45);
    subject.single.subject.crash();
    expect(await subject.history("j", 1_000)).toHaveLength(45);
  });

  it("keeps a hundred of a job unless told otherwise, in rows of twenty", async () => {
    const subject = await after(250);
    expect(await subject.history("j", 1_000)).toHaveLength(100);
    expect((await subject.history("j", 1_000)).at(-1)?.scheduledAt).toBe(subject.now - 99 * 5 * SECOND_MS);
    expect(pages(subject)).toEqual(["h/10/j", "h/11/j", "h/12/j", "h/7/j", "h/8/j", "h/9/j"]);
  });

  it.each([1, 3, 20, 21, 1_000])("keeps %i if that is what the job asks for", async (maxHistory) => {
    const subject = await after(63, { maxHistory });
    expect(await subject.history("j", 1_000)).toHaveLength(Math.min(63, maxHistory));
    expect(pages(subject).length).toBeLessThanOrEqual(Math.ceil(maxHistory / 20) + 1);
  });

  it("keeps nothing for maxHistory 0, and writes nothing for it", async () => {
    const subject = await after(3, { maxHistory: 0 });
    expect(await subject.history("j")).toEqual([]);
    expect(pages(subject)).toEqual([]);
    const before = subject.written.rows;
    await subject.world.pass(5 * SECOND_MS);
    // The job.
    expect(subject.written.rows - before).toBe(1);
    expect(await subject.job("j")).toMatchObject({ lastRunAt: subject.now, maxHistory: 0 });
  });

  it("is cut when a job asks for less, and cleared for 0; asking for more brings nothing back", async () => {
    const subject = await after(70);
    await subject.call("every", { ...job, maxHistory: 25 });
    expect(await subject.history("j", 1_000)).toHaveLength(25);
    expect(pages(subject)).toEqual(["h/2/j", "h/3/j"]);
    await subject.call("every", { ...job, maxHistory: 5 });
    await subject.call("every", { ...job, maxHistory: 100 });
    expect(await subject.history("j", 1_000)).toHaveLength(5);
    await subject.call("every", { ...job, maxHistory: 0 });
    expect(pages(subject)).toEqual([]);
    await subject.call("every", { ...job, maxHistory: 100 });
    expect(await subject.history("j", 1_000)).toEqual([]);
    await subject.world.pass(10 * SECOND_MS);
    expect(await subject.history("j", 1_000)).toHaveLength(2);
  });

  it("has the run that is going on, and puts its end where its beginning was", async () => {
    const subject = await after(3, { action: "slow", args: [12 * SECOND_MS], maxHistory: 2 });
    // While an actor works, its deadlines come 1 ms late.
    await subject.world.pass(1);
    expect((await subject.history("j")).map(({ result }) => result)).toEqual(["skipped", "skipped"]);
    await subject.call("every", { ...job, action: "slow", args: [12 * SECOND_MS], maxHistory: 100 });
    await subject.world.pass(10 * SECOND_MS);
    // The first run ended after it had left the history.
    expect((await subject.history("j")).map(({ result }) => result)).toEqual([
      "skipped",
      "running",
      "skipped",
      "skipped",
    ]);
    await subject.world.pass(8 * SECOND_MS);
    expect((await subject.history("j")).map(({ result }) => result)).toEqual([
      "skipped",
      "skipped",
      "ok",
      "skipped",
      "skipped",
    ]);
  });

  it("tells what an action was called when it ran", async () => {
    const subject = await after(1);
    await subject.call("every", { ...job, action: "count" });
    await subject.world.pass(5 * SECOND_MS);
    expect((await subject.history("j")).map(({ action }) => action)).toEqual(["count", "ran"]);
  });

  it("of all jobs of an actor together has ten thousand entries at most: the longest gives up its oldest", async () => {
    const subject = new CronSubject();
    const long = Array.from({ length: 11 }, (_, index) => `long-${index}`);
    for (const name of long)
      await subject.call("every", { ...job, name, interval: MINUTE_MS, action: "count", maxHistory: 1_000 });
    await subject.call("every", { ...job, name: "rare", interval: 100 * MINUTE_MS });
    const kept = async (): Promise<number[]> =>
      Promise.all([...long, "rare"].map(async (name) => (await subject.history(name, 1_000)).length));
    await subject.world.pass(900 * MINUTE_MS);
    expect(await kept()).toEqual([...Array<number>(11).fill(900), 9]);
    await subject.world.pass(200 * MINUTE_MS);
    const after = await kept();
    const sum = after.reduce((a, b) => a + b, 0);
    expect(sum).toBeLessThanOrEqual(10_000);
    expect(sum).toBeGreaterThan(9_900);
    // Jobs with a short history keep it.
    expect(after.at(-1)).toBe(11);
    expect(Math.max(...after.slice(0, -1)) - Math.min(...after.slice(0, -1))).toBeLessThanOrEqual(20);
    expect(pages(subject).length).toBeLessThan(10_000 / 20 + 24);
    subject.single.subject.crash();
    expect(await kept()).toEqual(after);
  }, 120_000);

  it("costs one row an end, and a twentieth more for the bound", async () => {
    const subject = await after(200);
    const before = subject.written.rows;
    await subject.world.pass(200 * 5 * SECOND_MS);
    // The job's row and a page; every twentieth time a page is deleted.
    expect(subject.written.rows - before).toBe(200 * 2 + 10);
  });

  it("of a job that comes rarely stays as long as the actor does", async () => {
    const subject = new CronSubject();
    await subject.call("set", { name: "yearly", expression: "0 0 1 1 *", action: "ran" });
    await subject.world.pass(5 * 365 * 24 * HOUR_MS);
    expect((await subject.history("yearly")).map(({ scheduledAt }) => new Date(scheduledAt).getUTCFullYear())).toEqual([
      2028, 2027, 2026, 2025, 2024,
    ]);
  });
});
