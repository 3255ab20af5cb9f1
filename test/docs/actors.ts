import { createClient } from "perdure/client";
import { expect, vi } from "vitest";
import { serve } from "./deploying.js";
import { codeOf, Stage, type Claims, type Example } from "./stage.js";

type Worker = Required<Example>["default"];

/** A client of an example, over its Worker. */
async function clientOf(stage: Stage, { registry }: Example) {
  // Not before the platform's module has a stand-in, and without its types, which are the Workers'.
  const { createHandler } = await vi.importActual<{ createHandler(registry: unknown, options: object): Worker }>(
    "perdure/cloudflare",
  );
  const worker = createHandler(registry, { logLevel: "silent" });
  return createClient<any>({ endpoint: "https://example.com", fetch: serve(stage, { registry, default: worker }) });
}

const EVENING = ["2026-12-24"];
const INPUT = { title: "Hamlet", seats: 3 };

export const actors: Readonly<Record<string, Claims>> = {
  "show.ts": {
    "has the state that its input makes, and keeps what a caller has seen through a crash": async (example) => {
      const show = new Stage(example).actor("show");
      expect(await show.create(INPUT, "book", "Ada", 2)).toBe(1);
      show.crash();
      expect(await show.call("look")).toEqual({ title: "Hamlet", free: 1, guests: { Ada: 2 } });
    },
    "writes nothing when it is read, and one row when it is changed": async (example) => {
      const show = new Stage(example).actor("show");
      await show.create(INPUT, "look");
      const rows = show.rowsWritten;
      await show.call("look");
      expect(show.rowsWritten).toBe(rows);
      await show.call("book", "Ada", 2);
      expect(show.rowsWritten).toBe(rows + 1);
    },
    "tells its caller what a UserError says": async (example) => {
      const client = await clientOf(new Stage(example), example);
      const show = await client.show.create(EVENING, { input: INPUT });
      const failure = (await show.book("Ada", 4).catch((error: unknown) => error)) as Error;
      expect(failure).toMatchObject({
        group: "user",
        code: "sold_out",
        message: "Only 3 seats are left",
        metadata: { free: 3 },
      });
    },
    "gives handles that must find an actor, make one, or must not find one": async (example) => {
      const stage = new Stage(example);
      const { show } = await clientOf(stage, example);
      expect(await codeOf(show.get(EVENING).look())).toBe("actor/not_found");
      expect(stage.world.actor("show", EVENING).store.keys).toEqual([]);
      const made = show.getOrCreate(EVENING, { createWithInput: INPUT });
      expect(stage.world.actor("show", EVENING).store.keys).toEqual([]);
      expect(await made.look()).toMatchObject({ free: 3 });
      expect(await codeOf(show.create(EVENING, { input: INPUT }))).toBe("actor/duplicate_key");
      expect(await codeOf(show.get(EVENING).stage())).toBe("actor/action_not_found");
    },
    "is another one after it was destroyed": async (example) => {
      const stage = new Stage(example);
      const { show } = await clientOf(stage, example);
      const first = show.getForId(await show.getOrCreate(EVENING, { createWithInput: INPUT }).resolve());
      await first.book("Ada", 2);
      await first.close();
      await stage.world.settle();
      expect(stage.world.actor("show", EVENING).store.keys).toEqual([]);
      expect(await codeOf(show.get(EVENING).look())).toBe("actor/not_found");
      expect(await show.getOrCreate(EVENING, { createWithInput: INPUT }).look()).toMatchObject({ free: 3, guests: {} });
      expect(await codeOf(first.look())).toBe("actor/not_found");
    },
    "masks any other error of its code": async (example) => {
      const client = await clientOf(new Stage(example), example);
      // Without the input that its state is made of.
      const failure = (await client.show
        .getOrCreate(EVENING)
        .look()
        .catch((error: unknown) => error)) as { metadata: unknown };
      expect(failure).toMatchObject({
        group: "rivetkit",
        code: "internal_error",
        metadata: { errorId: expect.any(String) as string },
      });
    },
    "is made and asked by another actor": async (example) => {
      const stage = new Stage(example);
      const programme = stage.actor("programme");
      await programme.call("announce", "monday", "Hamlet", 3);
      await programme.call("announce", "tuesday", "Faust", 4);
      expect(await codeOf(programme.call("announce", "monday", "Macbeth", 5))).toBe("actor/duplicate_key");
      expect(await programme.call("freeSeats")).toBe(7);
    },
  },
};
