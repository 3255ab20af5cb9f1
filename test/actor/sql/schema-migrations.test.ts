import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { actor, db, migrations, type Migration, type MigrationsOptions } from "../../../src/actor/index.js";
import { single } from "../subject.js";

const first: Migration = { version: 1, sql: "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('one')" };
const second: Migration = {
  version: 2,
  up: async (sql) => void (await sql.execute("INSERT INTO notes VALUES ('two')")),
};
const failing: Migration = { version: 3, sql: "INSERT INTO notes VALUES ('three'); INSERT INTO nowhere VALUES (1)" };

/** Actors on one database, as a deploy after the other finds it. */
function deploys(): (options: MigrationsOptions) => Promise<unknown> {
  const database = new DatabaseSync(":memory:");
  return (options) => {
    const { subject } = single(
      actor({
        db: db({ onMigrate: migrations(options) }),
        actions: { read: (c) => c.db.execute("SELECT text FROM notes") },
      }),
      { openDatabase: () => database },
    );
    return subject.call("read");
  };
}

describe("migrations", () => {
  it("run in their order, and only those that a database has not seen", async () => {
    const deploy = deploys();
    expect(await deploy({ migrations: [first] })).toEqual([{ text: "one" }]);
    expect(await deploy({ migrations: [first, second] })).toEqual([{ text: "one" }, { text: "two" }]);
    expect(await deploy({ migrations: [first, second] })).toEqual([{ text: "one" }, { text: "two" }]);
  });

  it("are all or nothing with the version that is noted", async () => {
    const deploy = deploys();
    await deploy({ migrations: [first] });
    await expect(deploy({ migrations: [first, second, failing] })).rejects.toMatchObject({ group: "sqlite" });
    expect(await deploy({ migrations: [first] })).toEqual([{ text: "one" }]);
  });

  it("take a schema over that is older than their table, and refuse one that is newer than the code", async () => {
    const deploy = deploys();
    await deploy({ migrations: [first], tableName: "another" });
    expect(await deploy({ adopt: () => 1, migrations: [first, second] })).toEqual([{ text: "one" }, { text: "two" }]);
    await expect(deploy({ migrations: [first] })).rejects.toMatchObject({ code: "internal_error" });
  });

  it("are numbered 1, 2, 3, …", () => {
    expect(() => migrations({ migrations: [second] })).toThrow("version 2 stands where 1 must");
    expect(() => migrations({ migrations: [{ version: 1 } as never] })).toThrow('version 1 needs "sql" or "up"');
    expect(() => migrations({ migrations: [], tableName: "a; DROP TABLE b" })).toThrow("not a plain table name");
  });
});
