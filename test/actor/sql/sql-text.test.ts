import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { readSql } from "../../../src/actor/internal.js";
import { seededRandom } from "../../support/seeded-random.js";

const texts = (sql: string): string[] => readSql(sql).map(({ text }) => text);
const refusal = { group: "sqlite", code: "manual_transaction" };

describe("SQL is read", () => {
  it.each<[string, string[]]>([
    ["", []],
    [" ;; -- nothing\n /* ; */ ;", []],
    ["select 1", ["select 1"]],
    ["select 1; select 2;", ["select 1", "select 2"]],
    ["select ';', \";\", `;`, [;] -- ;\n; select 2 /* ; */", ["select ';', \";\", `;`, [;]", "select 2"]],
    ["select 'it''s; ' ; select \"a\"\";\"", ["select 'it''s; '", 'select "a"";"']],
    ["select 1 /*/ ; */; select 2", ["select 1", "select 2"]],
    ["select 'never closed; select 2", ["select 'never closed; select 2"]],
    ["select 1 /* never closed; select 2", ["select 1"]],
    [
      "create trigger a after insert on t begin select case when 1 then 2 end; update t set x = 1; end; select 2",
      ["create trigger a after insert on t begin select case when 1 then 2 end; update t set x = 1; end", "select 2"],
    ],
    [
      "CREATE TEMP TRIGGER a after insert on t BEGIN select 1; END; select 2",
      ["CREATE TEMP TRIGGER a after insert on t BEGIN select 1; END", "select 2"],
    ],
    [
      "explain query plan create trigger a after insert on t begin select 1; end;",
      ["explain query plan create trigger a after insert on t begin select 1; end"],
    ],
    ["create table trigger_ (x); select 2", ["create table trigger_ (x)", "select 2"]],
  ])("%j is the statements %j", (sql, statements) => expect(texts(sql)).toEqual(statements));

  it("finds parameters where SQLite does", () => {
    const sql = "select ?, ?2, :a, @b, $c, ':no', \"?\", -- ?\n a->>'$.x', [?], x'00', :a";
    const [statement] = readSql(sql);
    expect(statement?.parameters.map(({ start, end, name }) => [statement.text.slice(start, end), name])).toEqual([
      ["?", undefined],
      ["?2", undefined],
      [":a", "a"],
      ["@b", "b"],
      ["$c", "c"],
      [":a", "a"],
    ]);
  });

  it("must be a text without U+0000, at which SQLite would stop reading", () => {
    for (const sql of [undefined, 1, {}, "select 1\0"])
      expect(() => readSql(sql)).toThrow(expect.objectContaining({ group: "sqlite", code: "invalid_sql" }));
  });
});

describe("transactions by text", () => {
  it.each([
    "begin",
    "BEGIN IMMEDIATE",
    " /* */ Begin",
    "commit",
    "end",
    "end transaction",
    "savepoint a",
    "release a",
    "rollback",
    "rollback to a",
    "select 1; commit",
    "insert or rollback into t values (1)",
    "insert OR\nROLLBACK into t values (1)",
    "update or/**/rollback t set x = 1",
    "replace into t values (1); rollback",
    "create table u (x unique on conflict rollback)",
    "create trigger a after insert on t begin select raise(rollback, 'no'); end",
    "create trigger a after insert on t begin select 1; end; end",
    "\ufeffrollback",
    "select 1 or\ufeff rollback",
    "select '''' rollback",
    'select "" rollback',
    "explain rollback",
    "select /*/ '*/ rollback",
    "select -- '\n rollback",
    "select ?rollback",
    "select 1\u00a0rollback",
  ])("are refused: %j", (sql) => expect(() => readSql(sql)).toThrow(expect.objectContaining(refusal)));

  it.each([
    ["begin; select 1; select 2; commit", ["select 1", "select 2"]],
    [
      " /* a */ BEGIN IMMEDIATE TRANSACTION;\ninsert into t values (?);\nEND TRANSACTION; -- b",
      ["insert into t values (?)"],
    ],
    ["begin; commit", []],
  ])("around all of one text are left out, since that is atomic anyway: %j", (sql, statements) =>
    expect(readSql(sql).map(({ text }) => text)).toEqual(statements),
  );

  it.each([
    "begin; select 1",
    "select 1; commit",
    "begin; select 1; commit; select 2",
    "begin; commit; begin; commit",
    "begin; savepoint a; commit",
    "begin exclusive x; commit",
  ])("anywhere else are refused: %j", (sql) => expect(() => readSql(sql)).toThrow(expect.objectContaining(refusal)));

  it.each([
    "select 'rollback'",
    'select "rollback", [rollback], `rollback`',
    "-- rollback\nselect 1",
    "/* rollback */ select 1",
    "select rollbacks, _rollback, rollback_ from t",
    "select :rollback, $rollback",
    "select 'it''s rollback'",
    "select case when 1 then 2 end",
    "insert into t (\"begin\") values ('commit')",
    "select é_rollback",
    "create trigger a before insert on t begin select raise(abort, 'rollback'); end",
  ])("are not what this is: %j", (sql) => expect(() => readSql(sql)).not.toThrow());

  it.each([
    "with x as (select $a(')) insert or rollback into t values (1) -- '",
    "select $a(')",
    "select :a(x)",
    "select @a::b(')",
    "select $::a('), 1",
    "select $a\u00a0('), 1",
  ])("cannot hide behind a parameter with parentheses: %j", (sql) =>
    expect(() => readSql(sql)).toThrow(expect.objectContaining({ group: "sqlite", code: "invalid_parameter" })),
  );

  it("are never let through: SQLite, asked about thousands of odd texts, ends no transaction by one that is accepted", () => {
    const random = seededRandom(7);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const odd = [
      "",
      " ",
      "\n",
      "\t",
      "/**/",
      "/*/ */",
      "--\n",
      "-- '\n",
      "/*'*/",
      "\ufeff",
      "\u00a0",
      "'",
      "''",
      '"',
      '""',
      "`",
      "[",
      "]",
      ";",
      "?",
      "?1",
      ":a",
      "$",
      "@",
      ".",
      "é",
      "\\",
      "e'",
      "x''",
      "||",
      "(",
      "\u200b",
      "$a(",
      ")",
      "::",
      "$a\u00a0(",
      "@b(",
      "#c",
      "1_0",
      "0x",
      ".",
      "->>",
    ];
    const words = ["rollback", "ROLLBACK", "RollBack", "abort", "'rollback'", '"rollback"', "[rollback]", "rollback_"];
    const noise = (): string =>
      random() < 0.5 ? " " : pick(odd) + pick(["", " ", "\n"]) + (random() < 0.3 ? pick(odd) : "");
    const shapes = [
      () => `insert${noise()}or${noise()}${pick(words)}${noise()}into t values (1)`,
      () => `update${noise()}or${noise()}${pick(words)}${noise()}t set x = 1`,
      () => `select 1${noise()};${noise()}${pick(words)}${noise()}`,
      () => `${noise()}${pick(words)}${noise()}`,
      () => `${noise()}${pick(["commit", "end", "rollback to s", "begin", "release s"])}${noise()}`,
      () =>
        "with x as (select " +
        `${pick(["$a", "@b", ":c", "#d", "$a::b", "$::a", "$é", "$a\u00a0", "$"])}${pick(["", "", "", noise()])}` +
        `${pick(["(')", '(")', "(`)", "([)", "('x')", "(')')"])}) ` +
        `insert or rollback into t values (1) -- ${pick(["'", '"', "`", "]"])}`,
      () =>
        `create table u${noise()}(x unique on conflict${noise()}${pick(words)}${noise()}); insert into u ` +
        "values (1); insert into u values (1)",
      () =>
        `create trigger g before insert on t begin select raise(${noise()}${pick(words)}${noise()}, 'x'); end; insert into t values (2)`,
    ];
    let [accepted, ended] = [0, 0];
    for (let round = 0; round < 6_000; round += 1) {
      const sql = pick(shapes)();
      let isAccepted = true;
      try {
        readSql(sql);
      } catch {
        isAccepted = false;
      }
      const database = new DatabaseSync(":memory:");
      database.exec("create table t (x unique); insert into t values (1), (3); begin; savepoint s");
      try {
        database.exec(sql);
      } catch {
        // Most are no SQL at all.
      }
      if (isAccepted) accepted += 1;
      if (!database.isTransaction) ended += 1;
      expect(isAccepted && !database.isTransaction, JSON.stringify(sql)).toBe(false);
      database.close();
    }
    expect([accepted > 1_000, ended > 500]).toEqual([true, true]);
  });
});
