/** Tables and pairs, to read. */
import { useState } from "preact/hooks";
import type { InspectedPair, InspectedRows, InspectedTable } from "../model/answers.js";
import { bytesOf } from "../model/times.js";
import { valueText } from "../model/value-text.js";
import { useAnswer } from "./answer.js";
import { Waiting } from "./waiting.js";

export function DataPanel() {
  const tables = useAnswer<{ items: readonly InspectedTable[] }>("tables");
  const [table, setTable] = useState<string>();
  const items = tables.data?.items;
  return (
    <>
      <h2 class="minor">Tables</h2>
      <Waiting answer={tables} />
      {items?.length === 0 && <p class="faint">It has no tables.</p>}
      {items && items.length > 0 && (
        <p class="names">
          {items.map(({ name }) => (
            <button type="button" key={name} class="small" aria-pressed={name === table} onClick={() => setTable(name)}>
              {name}
            </button>
          ))}
        </p>
      )}
      {table !== undefined && <Rows key={table} table={table} />}
      <h2 class="minor">Pairs of c.kv</h2>
      <Pairs />
    </>
  );
}

function Rows({ table }: { readonly table: string }) {
  const [pages, setPages] = useState<readonly string[]>(["0"]);
  const from = pages.at(-1) ?? "0";
  const answer = useAnswer<InspectedRows>("rows", { table, from, limit: "50" });
  const { data } = answer;
  return (
    <>
      <Waiting answer={answer} />
      {data && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Rows of ${table}`}>
          <table>
            <thead>
              <tr>
                {data.columns.map((name, index) => (
                  <th scope="col" key={index}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>
                      <code>{valueText(cell, 200).text}</code>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data?.rows.length === 0 && <p class="faint">It has no rows.</p>}
      <Pager pages={pages} next={data?.next} onPages={setPages} />
    </>
  );
}

function Pairs() {
  const [pages, setPages] = useState<readonly string[]>([""]);
  const from = pages.at(-1) ?? "";
  const answer = useAnswer<{ items: readonly InspectedPair[]; next?: string }>("kv", {
    limit: "50",
    ...(from !== "" && { from }),
  });
  const { data } = answer;
  return (
    <>
      <Waiting answer={answer} />
      {data?.items.length === 0 && <p class="faint">It has no pairs.</p>}
      {data && data.items.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Pairs">
          <table>
            <thead>
              <tr>
                <th scope="col">key</th>
                <th scope="col">value</th>
                <th scope="col">size</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map(({ key, value, size }, index) => (
                <tr key={index}>
                  <td>
                    <code>{valueText(key, 200).text}</code>
                  </td>
                  <td>
                    <code>{valueText(value, 400).text}</code>
                  </td>
                  <td>{bytesOf(size)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager pages={pages} next={data?.next} onPages={setPages} />
    </>
  );
}

interface PagerProps {
  readonly pages: readonly string[];
  readonly next: string | undefined;
  readonly onPages: (pages: readonly string[]) => void;
}

function Pager({ pages, next, onPages }: PagerProps) {
  if (pages.length === 1 && next === undefined) return null;
  return (
    <p class="buttons">
      <button type="button" class="small" disabled={pages.length === 1} onClick={() => onPages(pages.slice(0, -1))}>
        Previous
      </button>
      <button
        type="button"
        class="small"
        disabled={next === undefined}
        onClick={() => next !== undefined && onPages([...pages, next])}
      >
        Next
      </button>
      <span class="faint">page {pages.length}</span>
    </p>
  );
}
