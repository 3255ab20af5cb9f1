import { History, decodeEntry, givenReply, heldMessages, takenMessages } from "../../workflow/index.js";
import type { Part } from "../activation/part.js";
import type { TakenMessage } from "../activation/part-members.js";
import { isInFlight, pausedOf } from "../activation/workflow-outcome.js";
import { KEYS } from "../storage/record.js";
import { FailureReports } from "./failure-reports.js";
import { parkedOn } from "./parked-on.js";
import { WorkflowControl } from "./workflow-control.js";
import { workflowOf } from "./workflow-definition.js";
import { describeHistory } from "./workflow-view.js";
import { WorkflowDriver, type DrivenWorkflow } from "./workflow-driver.js";

/** The part that runs workflows, including those left by an earlier deploy while another actor of the registry has one. */
export const WORKFLOW_PART: Part = {
  name: "workflow",
  record: (now) => ({ workflow: { status: "running", times: [now] } }),
  serves: (record) => record.workflow !== undefined,
  inspect: ({ workflow }, rows) => {
    const history = new History(entriesOf(rows(KEYS.entries)));
    const isOver = !isInFlight(workflow);
    return {
      history: (options) => describeHistory({ history, isOver, hasEnded: () => false }, options),
      parkedOn: (isWorking, now) =>
        isOver ? undefined : parkedOn({ history, branches: undefined, isWorking, paused: pausedOf(workflow) }, now),
    };
  },
  join(actor, carrier) {
    const definition = carrier && workflowOf(carrier);
    // Read when it is first needed: a call that reads the state of a parked actor needs none of it.
    let read: History | undefined;
    const failures = new FailureReports(actor, definition?.onError, actor.allStored(KEYS.failures));
    const workflow: DrivenWorkflow = {
      // Code of an ended activation sees an empty one and changes nothing.
      get history() {
        return (read ??= new History(actor.isCurrent ? entriesOf(actor.allStored(KEYS.entries)) : []));
      },
      failures,
      run: definition?.run,
    };
    const driver = new WorkflowDriver(actor, workflow);
    const control = new WorkflowControl(actor, workflow, driver);
    return {
      members: { workflow: () => control },
      get highestSeq() {
        return Math.max(workflow.history.highestSeq(), failures.highestSeq);
      },
      messages: {
        take: () => driver.takeMessage(),
        expect: () => driver.expectMessages(),
        offer: () => driver.offerMessages(),
        taken: () => takenBy(workflow.history),
      },
      get isBusy() {
        return driver.isBusy;
      },
      wakeAt: () => driver.wakeAt(),
      load: () => {
        // A new release gave the actor a workflow: it begins with this start.
        if (!definition || actor.record.workflow) return;
        actor.putRecord({ workflow: { status: "running", times: [actor.ports.now()] } });
        actor.holdLease();
      },
      begin: (careful) => driver.start(careful),
      fireDue: () => failures.reportDue(),
      advance: () => driver.advance(),
      beforeCommit: () => driver.beforeCommit(),
      waitsIn: (steps) => driver.branches.wait(steps),
      suspend: () => driver.suspend(),
      destroyed: () => driver.destroyed(),
      end: (reason) => driver.abandon(reason),
    };
  },
};

function* entriesOf(
  rows: Iterable<readonly [key: string, bytes: Uint8Array]>,
): IterableIterator<ReturnType<typeof decodeEntry>> {
  for (const [key, bytes] of rows) yield decodeEntry(Number(key.slice(KEYS.entries.length)), bytes);
}

function* takenBy(history: History): IterableIterator<TakenMessage> {
  for (const entry of history.entries()) {
    if (entry.kind !== "message") continue;
    const held = new Set(heldMessages(entry).map(({ id }) => id));
    for (const message of takenMessages(entry)) {
      const given = givenReply(entry, message.id);
      yield { ...message, isHeld: held.has(message.id), ...(given && { given }) };
    }
  }
}
