import { describe, expect, it } from "vitest";
import { actor, type ScheduledFireInfo, type StandardSchema } from "../../../src/actor/index.js";
import { single } from "../subject.js";

type Verdict = Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>;

function schema(validate: (value: unknown) => Verdict | Promise<Verdict>): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

/** Lists of one number, or of a text that is one; a second part is 10 if it is missing. */
const numbers = schema((value) => {
  const [first, second = 10] = value as unknown[];
  const n = Number(first);
  if (Number.isNaN(n)) return { issues: [{ message: "no number", path: [0, { key: "inner" }] }] };
  return { value: [n, second] };
});

function subjectWith(actionInputSchemas: object, also: object = {}) {
  const ran: unknown[] = [];
  const add = (_c: unknown, ...args: unknown[]): unknown => {
    ran.push(args);
    return args;
  };
  return {
    ...single(
      actor({
        actions: {
          add,
          users: { add, remove: add },
          plan: (c, ...args: unknown[]) => c.schedule.after(1_000, "add", ...args),
        },
        actionInputSchemas: actionInputSchemas as never,
        options: { actionTimeout: 2_000 },
        ...also,
      }),
    ),
    ran,
  };
}

describe("actionInputSchemas", () => {
  it("refuse arguments with their issues, and the handler does not run (A20)", async () => {
    const { subject, ran } = subjectWith({ add: numbers });
    await expect(subject.call("add", "x")).rejects.toMatchObject({
      group: "actor",
      code: "validation_error",
      statusCode: 400,
      message: "Invalid action `add` arguments",
      metadata: { issues: [{ message: "no number", path: [0, "inner"] }] },
    });
    expect(ran).toEqual([]);
  });

  it("give the handler what they made of the arguments (A21)", async () => {
    const { subject } = subjectWith({ add: numbers });
    expect(await subject.call("add", "5")).toEqual([5, 10]);
    expect(await subject.call("add", 5, 6)).toEqual([5, 6]);
    expect(await subject.call("users.add", "5"), "one without a schema gets what was sent").toEqual(["5"]);
  });

  it("stand in the shape of the actions, or by dotted names", async () => {
    for (const schemas of [{ users: { add: numbers } }, { "users.add": numbers }]) {
      const { subject } = subjectWith(schemas);
      expect(await subject.call("users.add", "5")).toEqual([5, 10]);
      expect(await subject.call("users.remove", "5")).toEqual(["5"]);
      expect(await subject.call("add", "5")).toEqual(["5"]);
    }
  });

  it("may be asynchronous, and functions; they count for the action's time", async () => {
    const slow = Object.assign(
      () => {},
      schema(async (value) => {
        await made.world.clock.delay(1_500);
        return { value };
      }),
    );
    const made = subjectWith({ add: slow });
    const call = made.subject.call("add", 1);
    await made.world.pass(1_500);
    expect(await call).toEqual([1]);
    const hanging = subjectWith({
      add: schema(
        () =>
          new Promise((resolve) =>
            setImmediate(() => void hanging.world.clock.delay(3_000).then(() => resolve({ value: [1] }))),
          ),
      ),
    });
    const late = expect(hanging.subject.call("add", 1)).rejects.toMatchObject({
      code: "action_timed_out",
      statusCode: 408,
    });
    await hanging.world.pass(2_000);
    await late;
    await hanging.world.pass(5_000);
    expect(hanging.ran, "who was told that it timed out is not served afterwards").toEqual([]);
    expect(hanging.subject.timersHeld).toBe(0);
  });

  it("that throw, or give no list, are internal errors, which are logged", async () => {
    for (const broken of [
      schema(() => {
        throw new Error("broken");
      }),
      schema(() => ({ value: { n: 1 } })),
    ]) {
      const { subject, ran, log } = subjectWith({ add: broken });
      await expect(subject.call("add", 1)).rejects.toMatchObject({ code: "internal_error", statusCode: 500 });
      expect(ran).toEqual([]);
      expect(log.some(({ level }) => level === "error")).toBe(true);
    }
  });

  it("also check what the schedule runs; what it adds comes after that", async () => {
    const { world, subject, ran, log } = subjectWith({ add: numbers });
    await subject.call("plan", "7");
    await subject.call("plan", "x");
    await world.pass(1_000);
    expect(ran).toHaveLength(1);
    const [first, second, info] = ran[0] as [unknown, unknown, ScheduledFireInfo];
    expect([first, second, info.kind]).toEqual([7, 10, "at"]);
    expect(
      log.filter(
        ({ level, entry }) => level === "error" && String(entry["stack"]).includes("Invalid action `add` arguments"),
      ),
    ).toHaveLength(1);
    await world.passUntilQuiet();
    expect(ran).toHaveLength(1);
  });

  it("make what onBeforeActionResponse is told of the arguments", async () => {
    const told: unknown[] = [];
    const { subject } = subjectWith(
      { add: numbers },
      {
        onBeforeActionResponse: (_c: unknown, _name: string, args: unknown[], output: unknown) => (
          told.push(args),
          output
        ),
      },
    );
    await subject.call("add", "5");
    expect(told).toEqual([[5, 10]]);
  });

  it.each([
    ["at a name that is no action", { ad: numbers }, /actionInputSchemas has "ad", which is not an action/],
    ["at a group of actions", { users: numbers }, /actionInputSchemas has "users", which is not an action/],
    [
      "twice for one action",
      { "users.add": numbers, users: { add: numbers } },
      /actionInputSchemas has "users.add" twice/,
    ],
    ["that are none", { add: "number" }, /actionInputSchemas: "add" must be a Standard Schema/],
    ["that are functions of the user's", { add: () => true }, /actionInputSchemas: "add" must be a Standard Schema/],
    ["as no object", [numbers], /"actionInputSchemas" must be an object/],
  ])("are refused by actor() %s", (_, schemas, message) => {
    expect(() => subjectWith(schemas)).toThrow(message);
    expect(() => subjectWith(schemas)).toThrow(TypeError);
  });
});
