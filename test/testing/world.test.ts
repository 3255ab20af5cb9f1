import { describe, expect, it } from "vitest";
import { actor, setup } from "../../src/actor/index.js";
import type { World, WorldActor } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";

/** An actor with a schedule a second ahead; its process dies at each call of the clock while `deadly`. */
async function planned(): Promise<{ world: World; subject: WorldActor; deadly: { on: boolean } }> {
  const deadly = { on: false };
  const definition = actor({
    state: { ran: 0 },
    actions: { plan: (c) => c.schedule.after(1_000, "run"), run: (c) => (c.state.ran += 1), get: (c) => c.state.ran },
  });
  const world = testWorld(setup({ use: { subject: definition, other: actor({}) } }), { portFault: () => deadly.on });
  const subject = world.actor("subject", ["k"]);
  await subject.call("plan");
  return { world, subject, deadly };
}

describe("an alarm of the world", () => {
  it("whose runs do not come to an end is tried again at growing distances, and after seven runs dropped, as on the platform", async () => {
    const { world, subject, deadly } = await planned();
    const dueAt = subject.store.alarmAt ?? 0;
    deadly.on = true;
    const triedAt: number[] = [];
    for (let tries = 0; tries < 8 && subject.store.alarmAt !== null; tries += 1) {
      triedAt.push((subject.alarmComesAt ?? 0) - dueAt);
      await world.pass((subject.alarmComesAt ?? 0) - world.clock.now());
    }
    expect(triedAt).toEqual([0, 2_000, 7_000, 17_000, 35_000, 70_000, 138_000]);
    expect([subject.store.alarmAt, subject.alarmsDropped, subject.crashes]).toEqual([null, 1, 7]);
    deadly.on = false;
    await subject.call("get");
    await world.settle();
    expect(await subject.call("get"), "whoever touches the actor finds what is due").toBe(1);
  });

  it("that was set again in a run that died begins anew", async () => {
    const { world, subject, deadly } = await planned();
    deadly.on = true;
    await world.pass(1_000);
    await world.pass(2_000);
    deadly.on = false;
    await world.pass(5_000);
    expect(await subject.call("get")).toBe(1);
    expect([subject.store.alarmAt, subject.alarmsDropped]).toEqual([null, 0]);
  });
});

describe("a deploy of the world", () => {
  it("ends every process, and what comes next runs the other code", async () => {
    const { world, subject } = await planned();
    world.deploy(
      setup({
        use: { subject: actor({ state: { ran: 0 }, actions: { get: (c) => `other ${c.state.ran}` } }) },
      }) as never,
    );
    expect(subject.crashes).toBe(1);
    expect(await subject.call("get")).toBe("other 0");
  });

  it("leaves code of the old processes without storage", async () => {
    let begin: () => void = () => {};
    const held = new Promise<void>((resolve) => (begin = resolve));
    const slow = actor({ state: 0, onDestroy: () => held, actions: { end: (c) => c.destroy(), get: (c) => c.state } });
    const world = testWorld(setup({ use: { subject: slow } }));
    const subject = world.actor("subject", ["k"]);
    await subject.call("end");
    await world.turn();
    subject.crash();
    const next = subject.call("get");
    begin();
    expect(await next, "the next life, once the old one is gone").toBe(0);
    await world.settle();
    expect(await subject.call("get")).toBe(0);
  });
});

describe("time in the world", () => {
  it("that stands still under an event which sets itself off is an error", async () => {
    const { world } = await planned();
    const again = (): void => void world.clock.setTimer(world.clock.now(), again);
    let fires = 0;
    const slowly = (): void => {
      fires += 1;
      if (fires < 5) world.clock.setTimer(world.clock.now(), slowly);
    };
    world.clock.setTimer(world.clock.now() + 1, slowly);
    await world.pass(10);
    expect(fires).toBe(5);
    world.clock.setTimer(world.clock.now() + 1, again);
    await expect(world.pass(10)).rejects.toThrow("time stands still");
  });

  it("that stands still under an alarm which comes back at once is an error", async () => {
    const { world, subject } = await planned();
    const { fireAlarm } = subject;
    subject.fireAlarm = async () => {
      await fireAlarm.call(subject);
      subject.store.setAlarm(world.clock.now());
    };
    await expect(world.pass(2_000)).rejects.toThrow("time stands still");
  });
});
