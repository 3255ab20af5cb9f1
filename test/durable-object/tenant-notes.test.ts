import { afterEach, describe, expect, it } from "vitest";
import { registry } from "../../examples/tenant-notes/index.js";
import { serve } from "../support/worker.js";
import { objectOf, TestObject } from "./test-object.js";

// The example on the real storage: its search, its migrations, and its import, which is killed wherever it can be.

const platformFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = platformFetch;
});

serve(registry);
let tenants = 0;
function tenant(): TestObject {
  tenants += 1;
  return new TestObject("tenantNotes", `tenant-${tenants}`);
}
const texts = async (object: TestObject, action: string, ...args: unknown[]): Promise<string[]> =>
  ((await object.call(action, ...args)) as { text: string }[]).map(({ text }) => text);

describe("tenant-notes", () => {
  it("finds a tenant's own notes by the beginnings of their words, whatever is typed, and forgets what is deleted", async () => {
    const [acme, globex] = [tenant(), tenant()];
    for (const text of ["Call the bank about the loan", "Bankers' holiday", 'A "quoted" river bank', "Nothing"])
      await acme.call("add", text);
    await globex.call("add", "Bank of globex");
    expect((await texts(acme, "search", "bank")).sort()).toEqual([
      'A "quoted" river bank',
      "Bankers' holiday",
      "Call the bank about the loan",
    ]);
    expect(await texts(acme, "search", "the loan BANK")).toEqual(["Call the bank about the loan"]);
    expect(await texts(acme, "search", '"quoted" OR')).toEqual([]);
    expect(await texts(acme, "search", '"quoted"')).toEqual(['A "quoted" river bank']);
    expect(await texts(acme, "search", "  ")).toEqual([]);
    expect(await acme.call("removeMatching", "bank", 3)).toBe(3);
    expect([await texts(acme, "search", "bank"), await texts(acme, "list"), await texts(globex, "list")]).toEqual([
      [],
      ["Nothing"],
      ["Bank of globex"],
    ]);
  });

  it("removes all or none", async () => {
    const acme = tenant();
    for (const text of ["one a", "one b", "two"]) await acme.call("add", text);
    await expect(acme.call("removeMatching", "one", 1)).rejects.toThrow();
    expect(await texts(acme, "list")).toEqual(["two", "one b", "one a"]);
    expect(await texts(acme, "search", "one")).toHaveLength(2);
  });

  it("brings the index to a tenant of the first release, with the notes that it has", async () => {
    const acme = tenant();
    await acme.call("add", "from before");
    await acme.inside(({ storage }) => {
      storage.sql.exec(
        "drop trigger note_added; drop trigger note_removed; drop table note_words; delete from migrations " +
          "where id > 0; insert into notes (text, written_at) values ('older still', 1)",
      );
    });
    await acme.evict();
    expect((await texts(acme, "search", "older")).concat(await texts(acme, "search", "before"))).toEqual([
      "older still",
      "from before",
    ]);
    await acme.evict();
    expect(await texts(acme, "list")).toEqual(["older still", "from before"]);
  });

  it("imports each notebook once, killed before, between and after its statements", async () => {
    for (let diesAt = 1; diesAt <= 6; diesAt += 1) {
      const acme = tenant();
      let passed = 0;
      let isAccepted = false;
      const point = (): void => {
        passed += 1;
        if (passed === diesAt) objectOf(acme.name, acme.key).die();
      };
      globalThis.fetch = (async (url: string) => {
        // Polls: a promise may not be settled from another object or from the test.
        while (!isAccepted) await scheduler.wait(1);
        point();
        await scheduler.wait(0);
        point();
        return {
          ok: true,
          json: async () => ({ texts: pointed([`${url.at(-1)} first`, `${url.at(-1)} second`], point) }),
        };
      }) as unknown as typeof fetch;
      await acme.enqueue("imports", { notebook: "a" });
      await acme.enqueue("imports", { notebook: "b" });
      isAccepted = true;
      await acme.runAlarms();
      expect([diesAt, passed >= diesAt, await acme.call("getState"), await texts(acme, "list")]).toEqual([
        diesAt,
        true,
        { imported: 4 },
        ["b second", "b first", "a second", "a first"],
      ]);
    }
  });
});

/** A list that tells when each of its items is read. */
function pointed(items: string[], point: () => void): string[] {
  return new Proxy(items, {
    get: (target, key) => {
      if (typeof key === "string" && /^\d+$/.test(key)) point();
      return Reflect.get(target, key);
    },
  });
}
