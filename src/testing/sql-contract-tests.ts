/** The part of the contract in store.contract.ts that is about users' SQL, for stores that have it. */
import type { SqlCell } from "../actor/ports.js";
import { TABLE, failureOf, one, sqlOf, valuesIn } from "./contract-sql.js";
import type { ContractTest } from "./contract-subject.js";

export const SQL_CONTRACT_TESTS: readonly ContractTest[] = [
  {
    name: "sql: gives columns and cells as they are, and says whether it wrote",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const sql = sqlOf(store.activate());
        const run = (text: string, ...parameters: SqlCell[]): unknown => {
          const { columns, rows, hasWritten } = sql.execute(text, parameters);
          return [
            columns,
            rows.map((cells) =>
              cells.map((cell) => (typeof cell === "object" && cell !== null ? [...new Uint8Array(cell)] : cell)),
            ),
            hasWritten,
          ];
        };
        expect(run("create table t (x, y)")).toEqual([[], [], true]);
        expect(run("insert into t values (?, ?), (?, ?) returning x", "é\0", 1.5, Uint8Array.of(1, 2), null)).toEqual([
          ["x"],
          [["é\0"], [[1, 2]]],
          true,
        ]);
        expect(run("select x as a, y as a, 9007199254740993 as b from t where y = ?", 1.5)).toEqual([
          ["a", "a", "b"],
          [["é\0", 1.5, 9_007_199_254_740_992]],
          false,
        ]);
        expect(run("select typeof(?) as number, ?2 as second, ?2 as again", 5, "two")).toEqual([
          ["number", "second", "again"],
          [["real", "two", "two"]],
          false,
        ]);
        expect(run("delete from t where y is null")).toEqual([[], [], true]);
        expect(run("select count(*) as n from t")).toEqual([["n"], [[1]], false]);
      }),
  },
  {
    name: "sql: what throws is undone together, and nothing around it",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const sql = sqlOf(store.activate());
        sql.execute(TABLE, []);
        sql.atomically(() => sql.execute("insert into t values (1)", []));
        const attempt = (): unknown =>
          sql.atomically(() => {
            sql.execute("insert into t values (2)", []);
            try {
              sql.atomically(() => {
                sql.execute("insert into t values (3)", []);
                throw new Error("inner");
              });
            } catch {
              sql.execute("create table other (x)", []);
            }
            return sql.execute("insert into nowhere values (1)", []);
          });
        expect(failureOf(attempt)).toEqual("failed");
        expect(valuesIn(sql)).toEqual([1]);
        expect(failureOf(() => sql.execute("select * from other", []))).toEqual("failed");
      }),
  },
  {
    name: "sql: statements and rows of one turn are lost together, those of an earlier one stay",
    run: async (subject, expect) => {
      await subject.visit(async ({ store, nextTurn, crash }) => {
        const activation = store.activate();
        const sql = sqlOf(activation);
        sql.execute(TABLE, []);
        sql.execute("insert into t values (1)", []);
        await nextTurn();
        sql.execute("insert into t values (2)", []);
        await undefined;
        activation.commit(one());
        await crash();
      });
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(valuesIn(sqlOf(activation))).toEqual([1]);
        expect(activation.get("a")).toEqual(undefined);
      });
    },
  },
  {
    name: "sql: an activation that is over runs nothing any more",
    run: (subject, expect) =>
      subject.visit(async ({ store, nextTurn }) => {
        const older = sqlOf(store.activate());
        older.execute(TABLE, []);
        const waiting = older
          .transaction(async () => older.execute("insert into t values (1)", []))
          .then(
            () => "done",
            () => "refused",
          );
        const newest = sqlOf(store.activate());
        await nextTurn();
        expect(await waiting).toEqual("refused");
        expect(failureOf(() => older.execute("insert into t values (2)", []))).toEqual("failed");
        expect(failureOf(() => older.atomically(() => 1))).toEqual("failed");
        expect(valuesIn(newest)).toEqual([]);
      }),
  },
  {
    name: "sql: deleteAll takes the tables, and the database can be used at once",
    run: (subject, expect) =>
      subject.visit(async ({ store }) => {
        const activation = store.activate();
        const sql = sqlOf(activation);
        sql.execute(TABLE, []);
        sql.execute("create view v as select * from t", []);
        await activation.sync();
        await activation.deleteAll();
        expect(sql.execute("select count(*) from sqlite_master where name in ('t', 'v')", []).rows).toEqual([[0]]);
        sql.execute(TABLE, []);
        expect(valuesIn(sql)).toEqual([]);
      }),
  },
];
