/** What else the actor has, closed until one looks. */
import type { ComponentChildren } from "preact";
import type { InspectedConnection, InspectedSchedule, InspectedSummary } from "../model/answers.js";
import { grouped } from "../model/times.js";
import { summary } from "../store/actor.js";
import { useAnswer } from "./answer.js";
import { DataPanel } from "./data-panel.js";
import { openPanels, togglePanel, type PanelName } from "./opened.js";
import { QueuePanel } from "./queue-panel.js";
import { StatePanel } from "./state-panel.js";
import { Time } from "./time.js";
import { Value } from "./value.js";
import { Waiting } from "./waiting.js";

export function Panels() {
  const known = summary.value;
  if (!known) return null;
  return (
    <section class="panels" aria-label="What it stores">
      <Panel name="state" title="State" note={known.stateBytes === undefined ? "none" : ""}>
        {() => <StatePanel />}
      </Panel>
      <Panel name="queue" title="Queue" note={grouped(known.queueSize)}>
        {() => <QueuePanel />}
      </Panel>
      <Panel name="schedules" title="Schedules" note={grouped(known.schedules)}>
        {() => <Schedules />}
      </Panel>
      <Panel name="connections" title="Connections" note={grouped(known.connections)}>
        {() => <Connections />}
      </Panel>
      <Panel
        name="data"
        title="Data"
        note={known.tables === 0 ? "" : `${known.tables} ${known.tables === 1 ? "table" : "tables"}`}
      >
        {() => <DataPanel />}
      </Panel>
      <Panel name="actions" title="Actions" note={grouped(known.actions.length)}>
        {() => <Actions known={known} />}
      </Panel>
    </section>
  );
}

interface PanelProps {
  readonly name: PanelName;
  readonly title: string;
  readonly note: string;
  readonly children: () => ComponentChildren;
}

/** What is closed asks nothing. */
function Panel({ name, title, note, children }: PanelProps) {
  const isOpen = openPanels.value.has(name);
  return (
    <details id={`panel-${name}`} open={isOpen} onToggle={(event) => togglePanel(name, event.currentTarget.open)}>
      <summary>
        {title} <span class="faint">{note}</span>
      </summary>
      {isOpen && <div class="panel">{children()}</div>}
    </details>
  );
}

function Schedules() {
  const answer = useAnswer<{ items: readonly InspectedSchedule[] }>("schedules");
  const items = answer.data?.items;
  return (
    <>
      <Waiting answer={answer} />
      {items?.length === 0 && <p class="faint">Nothing is scheduled.</p>}
      {items && items.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">action</th>
              <th scope="col">at</th>
              <th scope="col">arguments</th>
              <th scope="col">repeats</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ id, action, at, args, cadence }) => (
              <tr key={id}>
                <td>{action}</td>
                <td>
                  <Time at={at} />
                </td>
                <td>
                  <Value value={args} label={`Arguments of ${action}`} />
                </td>
                <td>{cadence === undefined ? "once" : <Value value={cadence} label={`Cadence of ${id}`} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Connections() {
  const answer = useAnswer<{ items: readonly InspectedConnection[] }>("connections");
  const items = answer.data?.items;
  return (
    <>
      <Waiting answer={answer} />
      {items?.length === 0 && <p class="faint">Nobody is connected.</p>}
      {items?.map((each) => (
        <article key={each.id} class="item">
          <p>
            <code>{each.id}</code> <span class="tag">{each.kind}</span>{" "}
            {each.events.length > 0 && <span class="faint">listens to {each.events.join(", ")}</span>}
          </p>
          {each.params !== undefined && <Value value={each.params} label="Params" />}
          {each.state !== undefined && <Value value={each.state} label="State of the connection" />}
        </article>
      ))}
    </>
  );
}

function Actions({ known }: { readonly known: InspectedSummary }) {
  if (!known.isRegistered)
    return <p class="faint">The class is gone from this Worker, so its actions are not known.</p>;
  if (known.actions.length === 0) return <p class="faint">It has no actions.</p>;
  return (
    <p class="names">
      {known.actions.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </p>
  );
}
