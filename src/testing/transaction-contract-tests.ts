/** The part of the contract in store.contract.ts about transactions of users' SQL over several turns. */
import { TABLE, failureOf, one, sqlOf, valuesIn } from "./contract-sql.js";
import type { ContractTest } from "./contract-subject.js";

export const TRANSACTION_CONTRACT_TESTS: readonly ContractTest[] = [
  {
    name: "sql: a transaction over several turns is committed when it resolves, undone when it rejects, lost when the process dies in it",
    run: async (subject, expect) => {
      await subject.visit(async ({ store, nextTurn, crash }) => {
        const sql = sqlOf(store.activate());
        sql.execute(TABLE, []);
        const insert = async (value: number): Promise<number> => {
          sql.execute("insert into t values (?)", [value]);
          await nextTurn();
          return value;
        };
        expect(await sql.transaction(async () => (await insert(1)) + (await insert(2)))).toEqual(3);
        const rejected = sql.transaction(async () => {
          await insert(3);
          sql.execute("create table other (x)", []);
          throw new Error("no");
        });
        expect(await rejected.catch((error: Error) => error.message)).toEqual("no");
        expect(valuesIn(sql)).toEqual([1, 2]);
        expect(failureOf(() => sql.execute("select * from other", []))).toEqual("failed");
        await nextTurn();
        await sql.transaction(async () => {
          await insert(4);
          await crash();
        });
      });
      await subject.visit(async ({ store }) => expect(valuesIn(sqlOf(store.activate()))).toEqual([1, 2]));
    },
  },
  {
    name: "sql: a commit undoes a transaction that says so, and is not undone with it",
    run: async (subject, expect) => {
      const order: string[] = [];
      await subject.visit(async ({ store, nextTurn, crash }) => {
        const activation = store.activate();
        const sql = sqlOf(activation);
        sql.execute(TABLE, []);
        let undo = (): void => {};
        const undone = new Promise<never>((_, reject) => (undo = () => reject(new Error("undone"))));
        const transaction = sql.transaction(
          async () => {
            sql.execute("insert into t values (1)", []);
            await nextTurn();
            activation.commit(one());
            order.push(`holds ${valuesIn(sql).length} rows`);
            sql.execute("insert into t values (2)", []);
            return undone;
          },
          () => {
            order.push("told");
            undo();
          },
        );
        order.push(await transaction.catch((error: Error) => error.message));
        await nextTurn();
        await crash();
      });
      expect(order).toEqual(["told", "holds 0 rows", "undone"]);
      await subject.visit(async ({ store }) => {
        const activation = store.activate();
        expect(valuesIn(sqlOf(activation))).toEqual([2]);
        expect([...(activation.get("a") ?? [])]).toEqual([1]);
      });
    },
  },
  {
    name: "sql: what is about to leave undoes such a transaction as well, and no other",
    run: (subject, expect) =>
      subject.visit(async ({ store, nextTurn }) => {
        const sql = sqlOf(store.activate());
        sql.execute(TABLE, []);
        let undo = (): void => {};
        const undone = new Promise<never>((_, reject) => (undo = () => reject(new Error("undone"))));
        await sql.transaction(async () => {
          sql.execute("insert into t values (1)", []);
          const inner = sql.transaction(
            async () => {
              sql.execute("insert into t values (2)", []);
              sql.leaving();
              return undone;
            },
            () => undo(),
          );
          expect(await inner.catch((error: Error) => error.message)).toEqual("undone");
          await nextTurn();
          sql.leaving();
        });
        expect(valuesIn(sql)).toEqual([1]);
      }),
  },
  {
    name:
      "sql: a commit, or what is about to leave, while one such transaction is open inside of another is " +
      "refused: both are told, and undone",
    run: async (subject, expect) => {
      for (const event of ["commit", "leaving"]) {
        await subject.visit(async ({ store, nextTurn }) => {
          const activation = store.activate();
          const sql = sqlOf(activation);
          sql.execute(TABLE, []);
          const told: string[] = [];
          const nested = (name: string, work: () => Promise<unknown>): Promise<unknown> => {
            let end = (): void => {};
            const ended = new Promise<never>((_, reject) => (end = () => reject(new Error(name))));
            ended.catch(() => {});
            return sql.transaction(
              async () => {
                sql.execute("insert into t values (1)", []);
                await work();
                return ended;
              },
              () => {
                told.push(name);
                end();
              },
            );
          };
          const outer = nested("outer", () => {
            const inner = nested("inner", async () => {
              await nextTurn();
              told.push(failureOf(() => (event === "commit" ? activation.commit(one()) : sql.leaving())));
            });
            return inner.catch(() => {});
          });
          told.push(await outer.then(String, (error: Error) => `${error.message} rejects`));
          await nextTurn();
          expect([event, told, valuesIn(sql), activation.get("a")]).toEqual([
            event,
            ["inner", "outer", "failed", "outer rejects"],
            [],
            undefined,
          ]);
          await activation.deleteAll();
        });
      }
    },
  },
  {
    name: "sql: a commit in a transaction that says nothing is stored with it, or not at all",
    run: async (subject, expect) => {
      for (const end of ["resolves", "rejects", "dies"]) {
        await subject.visit(async ({ store, nextTurn, crash }) => {
          const activation = store.activate();
          const sql = sqlOf(activation);
          const work = async (): Promise<void> => {
            sql.execute("create table joined (x)", []);
            await nextTurn();
            if (end === "dies") await crash();
            if (end === "rejects") throw new Error("no");
            activation.commit(one());
          };
          await sql.transaction(work).catch(() => {});
          await nextTurn();
          await crash();
        });
        await subject.visit(async ({ store }) => {
          const activation = store.activate();
          const found = [
            failureOf(() => sqlOf(activation).execute("select * from joined", [])),
            [...(activation.get("a") ?? [])],
          ];
          expect([end, ...found]).toEqual(end === "resolves" ? [end, "none", [1]] : [end, "failed", []]);
          await activation.deleteAll();
        });
      }
    },
  },
  {
    name: "sql: transactions nest: an inner one is undone alone",
    run: (subject, expect) =>
      subject.visit(async ({ store, nextTurn }) => {
        const sql = sqlOf(store.activate());
        await sql.transaction(async () => {
          sql.execute(TABLE, []);
          await sql.transaction(async () => sql.execute("insert into t values (1)", []));
          const inner = sql.transaction(async () => {
            sql.execute("insert into t values (2)", []);
            await nextTurn();
            throw new Error("no");
          });
          await inner.catch(() => {});
          sql.execute("insert into t values (3)", []);
        });
        expect(valuesIn(sql)).toEqual([1, 3]);
      }),
  },
];
