import { expect } from "vitest";
import { codeOf, Stage, type Claims, type Service } from "./stage.js";

const billing: Service = ({ path }) => ({ number: `number of ${path}`, cents: 500 });

export const data: Readonly<Record<string, Claims>> = {
  "library.ts": {
    "finds books by their shelf, also after a restart; another key has a library of its own": async (example) => {
      const stage = new Stage(example);
      const town = stage.actor("library", "town");
      expect(await town.call("add", "Ulysses", "novels")).toEqual([{ id: 1 }]);
      expect(await town.call("add", "Emma", "novels")).toEqual([{ id: 2 }]);
      await town.call("add", "Atlas", "maps");
      town.crash();
      expect(await town.call("onShelf", "novels")).toEqual([{ title: "Emma" }, { title: "Ulysses" }]);
      expect(await stage.actor("library", "school").call("onShelf", "novels")).toEqual([]);
    },
  },
  "invoices.ts": {
    "has each invoice once, and the count with it, wherever it is cut off": async (example) => {
      for (let at = 1; at <= 10; at += 1) {
        for (const fault of ["crash-before", "crash-after"] as const) {
          const stage = new Stage(example, {
            service: billing,
            fault: (_actor, commit) => (commit === at ? fault : undefined),
          });
          const actor = stage.actor("invoices");
          for (const customer of ["ada", "bob"])
            await actor.send("bill", { customer }).catch(() => actor.send("bill", { customer }));
          await stage.world.pass(60_000);
          const invoices = (await actor.call("list")) as { number: string; cents: number }[];
          const { count } = (await actor.call("getState")) as { count: number };
          expect(invoices.length, `${fault} commit ${at}`).toBe(count);
          expect(new Set(invoices.map(({ number }) => number)), `${fault} commit ${at}`).toEqual(
            new Set(["number of invoices/ada", "number of invoices/bob"]),
          );
        }
      }
    },
  },
  "budget.ts": {
    "moves what is there, and changes nothing when there is not enough": async (example) => {
      const pots = new Stage(example).actor("budget");
      await pots.call("fill", "rent", 500);
      await pots.call("fill", "food", 100);
      expect(await pots.call("move", "rent", "food", 200)).toBe(300);
      expect(await codeOf(pots.call("move", "rent", "food", 301))).toBe("user/not_enough");
      expect(await pots.call("all")).toEqual([
        { name: "food", cents: 300 },
        { name: "rent", cents: 300 },
      ]);
    },
  },
  "sessions.ts": {
    "lists and closes the sessions of one user": async (example) => {
      const sessions = new Stage(example).actor("sessions");
      for (const [user, device] of [
        ["ada", "phone"],
        ["ada", "desk"],
        ["adam", "phone"],
      ])
        await sessions.call("open", user, device);
      expect(await sessions.call("of", "ada")).toEqual(["ada/desk", "ada/phone"]);
      await sessions.call("closeAll", "ada");
      expect([await sessions.call("of", "ada"), await sessions.call("of", "adam")]).toEqual([[], ["adam/phone"]]);
    },
    "writes a session and the count in two rows, in one commit": async (example) => {
      const sessions = new Stage(example).actor("sessions");
      await sessions.call("open", "ada", "phone");
      const { rows, commits } = { rows: sessions.rowsWritten, commits: sessions.actor.store.commits };
      await sessions.call("open", "ada", "desk");
      expect([sessions.rowsWritten - rows, sessions.actor.store.commits - commits]).toEqual([2, 1]);
    },
  },
};
