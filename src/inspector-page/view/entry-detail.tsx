/** The selected entry: what went wrong, when it was tried, what it gave. */
import { useState } from "preact/hooks";
import type { InspectedEntry } from "../model/answers.js";
import { codeOf, errorChain } from "../model/errors.js";
import { lengthOf } from "../model/times.js";
import { pathOf } from "../model/tree.js";
import { reveal, rows, selected, selectedEntry, summary } from "../store/actor.js";
import { me } from "../store/session.js";
import { useAnswer } from "./answer.js";
import { Copy } from "./copy.js";
import { Failure } from "./failure.js";
import { isSheetOpen, mend } from "./opened.js";
import { Time } from "./time.js";
import { Value } from "./value.js";

export function EntryDetail() {
  const entry = selectedEntry.value;
  return (
    <section class="detail" aria-label="Selected entry" data-open={isSheetOpen.value}>
      <button type="button" class="close small" onClick={() => (isSheetOpen.value = false)}>
        Close
      </button>
      {entry ? <Entry key={entry.id} entry={entry} /> : <Nothing />}
    </section>
  );
}

function Nothing() {
  const row = rows.value.find(({ node }) => node.id === selected.value);
  if (!row) return <Now />;
  return (
    <>
      <h2>{row.node.label}</h2>
      <p class="faint">
        {row.node.what === "branch"
          ? `A branch${row.node.branchStatus ? `: ${row.node.branchStatus}` : ""}. Its operations are below it.`
          : "It holds the operations below it, and has no entry of its own."}
      </p>
    </>
  );
}

/** What it does now, of which nothing may be recorded. */
function Now() {
  const activities = summary.value?.workflow.parkedOn?.activities ?? [];
  if (activities.length === 0) return <p class="faint">Select an entry on the left to see what it did.</p>;
  return (
    <>
      <h2>Now</h2>
      {activities.map((each, index) => (
        <dl key={index}>
          <Line name="it is at">
            <code>{pathOf(each.location ?? []) || "its start"}</code>
          </Line>
          <Line name={each.kind === "message" ? "waits for" : "does"}>
            {each.kind === "message" ? `a message on ${each.queues?.join(" or ") ?? "any queue"}` : each.kind}
          </Line>
          {each.since !== undefined && (
            <Line name="since">
              <Time at={each.since} />
            </Line>
          )}
          {"until" in each && each.until !== undefined && (
            <Line name="until">
              <Time at={each.until} />
            </Line>
          )}
        </dl>
      ))}
    </>
  );
}

function Entry({ entry }: { readonly entry: InspectedEntry }) {
  return (
    <>
      <h2>
        {String(entry.location.at(-1) ?? "")} <span class="tag">{entry.kind.replaceAll("_", " ")}</span>{" "}
        <span class="tag" data-status={entry.status}>
          {entry.status}
        </span>
      </h2>
      {entry.error && <Errors entry={entry} />}
      <Attempts entry={entry} />
      <Times entry={entry} />
      {entry.branches && <Branches entry={entry} />}
      <ValueOf entry={entry} />
      {entry.kind === "step" && me.value?.write && (
        <p>
          <button type="button" onClick={() => mend("replay")}>
            Replay from here…
          </button>
        </p>
      )}
    </>
  );
}

function Errors({ entry: { error } }: { readonly entry: InspectedEntry }) {
  if (!error) return null;
  return (
    <div class="errors">
      {errorChain(error).map(({ error: each, depth, by }, index) => (
        <div key={index} class="error" style={{ marginLeft: `${Math.min(depth, 6) * 12}px` }}>
          {by !== undefined && <span class="faint">{by}: </span>}
          <b>{each.name}</b> {codeOf(each) !== undefined && <code>{codeOf(each)}</code>}
          <p>{each.message || "It has no message."}</p>
          {each.metadata !== undefined && <Value value={each.metadata} label="Metadata of the error" />}
        </div>
      ))}
    </div>
  );
}

function Attempts({ entry: { attempts, interrupted, failedAttempts = [], kind } }: { readonly entry: InspectedEntry }) {
  if (kind !== "step" && kind !== "rollback") return null;
  const unknown = attempts - failedAttempts.length;
  return (
    <>
      <h3>
        {attempts} {attempts === 1 ? "attempt" : "attempts"}
        {interrupted > 0 && `, and ${interrupted} cut off by a crash or a deploy`}
      </h3>
      {failedAttempts.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">began</th>
              <th scope="col">took</th>
              <th scope="col">error</th>
            </tr>
          </thead>
          <tbody>
            {failedAttempts.map(({ attempt, startedAt, ms, name, message }) => (
              <tr key={attempt}>
                <td>{attempt}</td>
                <td>
                  <Time at={startedAt} />
                </td>
                <td class="whole">{lengthOf(ms)}</td>
                <td>
                  {name}: {message}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {failedAttempts.length > 0 && unknown > 1 && <p class="faint">Of the failed ones the last five are kept.</p>}
    </>
  );
}

function Times({ entry }: { readonly entry: InspectedEntry }) {
  const { startedAt, endedAt, dueAt, location, id, undoes, messages } = entry;
  return (
    <dl>
      {startedAt === undefined ? (
        <Line name="began">not recorded: an earlier release wrote it</Line>
      ) : (
        <Line name="began">
          <Time at={startedAt} />
        </Line>
      )}
      {endedAt !== undefined && startedAt !== undefined && (
        <Line name="ended">
          <Time at={endedAt} /> <span class="faint">after {lengthOf(endedAt - startedAt)}</span>
        </Line>
      )}
      {dueAt !== undefined && (
        <Line name="due">
          <Time at={dueAt} />
        </Line>
      )}
      {messages && <Line name="took">{messages.map((each) => `message ${each.id} of ${each.queue}`).join(", ")}</Line>}
      <Line name="place">
        <Copy text={JSON.stringify(location)} shown={pathOf(location)} label="the place" />
      </Line>
      <Line name="entry">
        <Copy text={id} label="the entry's id" />
      </Line>
      {undoes !== undefined && (
        <Line name="undoes">
          <button type="button" class="link" onClick={() => reveal(undoes)}>
            entry {undoes}
          </button>
        </Line>
      )}
    </dl>
  );
}

function Line({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Branches({ entry: { branches = [], branchCount = branches.length } }: { readonly entry: InspectedEntry }) {
  return (
    <>
      <h3>{branchCount} branches</h3>
      <ul class="plain">
        {branches.map(({ name, status, doing, operation }) => (
          <li key={name}>
            {name} <span class="tag">{status}</span>
            {doing !== undefined && <span class="faint"> was in {operation ?? doing}</span>}
          </li>
        ))}
      </ul>
      {branches.length < branchCount && <p class="faint">The first {branches.length} are shown.</p>}
    </>
  );
}

function ValueOf({ entry: { id, status } }: { readonly entry: InspectedEntry }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, reload } = useAnswer<InspectedEntry>("entry", { entry: id }, isAsked);
  if (status !== "completed") return null;
  return (
    <>
      <h3>Value</h3>
      {!isAsked && (
        <button type="button" class="small" onClick={() => setAsked(true)}>
          Show the value
        </button>
      )}
      {isAsked && !data && !error && <p class="faint">Reading…</p>}
      {error && <Failure error={error} onRetry={reload} />}
      {data && !("value" in data) && <p class="faint">It has no value.</p>}
      {data && "value" in data && <Value value={data.value} label="Value" />}
    </>
  );
}
