import { actor } from "rivetkit";
import { db } from "rivetkit/db/drizzle";
import { integer, sqliteTable, text, uniqueIndex } from "rivetkit/db/drizzle";

const employees = sqliteTable(
  "employees",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    name: text("name").notNull(),
    salary: integer("salary").notNull(),
  },
  (table) => [uniqueIndex("employees_name").on(table.name)],
);

// As drizzle-kit writes it: meta/_journal.json and the .sql files.
const journal = {
  version: "7",
  dialect: "sqlite",
  entries: [{ idx: 0, version: "6", when: 1_700_000_000_000, tag: "0000_first", breakpoints: true }],
};
const migrations = {
  journal,
  migrations: {
    m0000:
      "CREATE TABLE `employees` (`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL, `name` text NOT NULL, " +
      "`salary` integer NOT NULL);--> statement-breakpoint\nCREATE UNIQUE INDEX `employees_name` ON " +
      "`employees` (`name`);",
  },
};

export const companyDatabase = actor({
  db: db({ schema: { employees }, migrations }),
  actions: {
    hire: async (c, name: string, salary: number) =>
      (await c.db.insert(employees).values({ name, salary }).returning())[0],
    list: async (c) =>
      c.db.select({ name: employees.name, salary: employees.salary }).from(employees).orderBy(employees.name),
    total: async (c) => (await c.db.execute<{ total: number }>("SELECT sum(salary) AS total FROM employees"))[0]?.total,
  },
});
