import { decodeValue, encodeValue, own, ownField } from "../../protocol/index.js";
import { describeThrownError, type FailureReport } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { describe } from "../activation/thrown.js";
import { loggedRun } from "../activation/workflow-outcome.js";
import { callHook } from "../callbacks/call-hook.js";
import { KEYS } from "../storage/record.js";

/** Longest string in a truncated event, in UTF-16 units. */
const MAX_STRING = 8_192;

/**
 * Reports failures to the workflow's `onError` (FLOW-17).
 *
 * Invariants: the commit that records a failure also stores its report; one commit removes the report and stores what the
 * hook changed. So each failure is reported at least once, and exactly once without a crash.
 */
export class FailureReports {
  readonly #activation: ActorActivation;
  readonly #onError: unknown;
  readonly #due = new Map<number, unknown>();
  #isReporting = false;

  constructor(activation: ActorActivation, onError: unknown, rows: Iterable<readonly [string, Uint8Array]>) {
    this.#activation = activation;
    this.#onError = onError;
    for (const [key, bytes] of rows) this.#due.set(Number(key.slice(KEYS.failures.length)), decodeValue(bytes));
  }

  /** The highest counter value that a stored report uses. */
  get highestSeq(): number {
    let highest = 0;
    for (const seq of this.#due.keys()) highest = Math.max(highest, seq);
    return highest;
  }

  /** Logs a failure, and reports it to the hook once the commit that records it is made. */
  report(failure: FailureReport): void {
    const workflowId = this.#activation.record.actorId;
    const [[kind, fields]] = Object.entries(failure) as [
      [
        string,
        { readonly error: unknown; readonly willRetry?: boolean; readonly stepName?: string; readonly ms?: number },
      ],
    ];
    const { error, ms = kind === "workflow" ? this.#runMs() : undefined, ...rest } = own(fields);
    this.#add({ [kind]: { workflowId, ...rest, error: describeThrownError(error) } });
    const { stepName: step, ...about } = own(rest);
    const entry = {
      msg: `A ${kind} failed`,
      ...(step !== undefined && { step }),
      ...about,
      ...(ms !== undefined && { ms }),
      stack: describe(error),
    };
    const log = this.#activation.ports.log.child(loggedRun(this.#activation.record));
    if (ownField(rest, "willRetry")) log.debug(entry);
    else if (kind === "step") log.warn(entry);
    else log.error(entry);
  }

  /** How long the run has taken. */
  #runMs(): number | undefined {
    const { run } = loggedRun(this.#activation.record);
    return run === undefined ? undefined : this.#activation.ports.now() - run;
  }

  /** Adds an event to the dirty set. It is reported once that is committed. Called inside a turn of the run; never throws. */
  #add(event: unknown): void {
    if (!this.#onError) return;
    const seq = this.#activation.nextSeq();
    const bytes = encodeEvent(event);
    this.#due.set(seq, decodeValue(bytes));
    this.#activation.put(KEYS.failure(seq), () => bytes);
    this.reportDue();
  }

  /** Reports stored events, one at a time. On return the lease is in the dirty set. */
  reportDue(): void {
    const onError = this.#onError;
    if (this.#isReporting || this.#due.size === 0 || !onError) return;
    this.#isReporting = true;
    this.#activation.background.run("onError", async () => {
      try {
        for (const [seq, event] of this.#due) {
          // The turn that recorded the failure ends first, with its commit, even while another event is being reported.
          await this.#activation.ports.yield();
          if (this.#activation.record.destroyed || !this.#activation.commit()) return;
          await this.#report(onError, event);
          this.#due.delete(seq);
          this.#activation.delete(KEYS.failure(seq));
          if (!this.#activation.commit()) return;
        }
      } finally {
        this.#isReporting = false;
      }
    });
  }

  async #report(onError: unknown, event: unknown): Promise<void> {
    const { actor, ports } = this.#activation;
    try {
      await callHook(
        this.#activation,
        onError,
        { name: "onError", timeoutMs: actor.options.actionTimeout, about: { isRunHandler: true } },
        [event],
      );
    } catch (error) {
      ports.log.error({ msg: "onError failed; the workflow's outcome is not affected", stack: describe(error) });
    }
  }
}

/** Encodes an event. One that a row cannot hold is reduced to its strings and numbers, truncated. */
function encodeEvent(event: unknown): Uint8Array<ArrayBuffer> {
  try {
    return encodeValue(event, { what: "failure event" });
  } catch {
    const cut = Object.entries(event as Record<string, Record<string, unknown>>).map(
      ([kind, details]) => [kind, truncate(details)] as const,
    );
    return encodeValue(Object.fromEntries(cut), { what: "failure event" });
  }
}

function truncate({ error, ...details }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const short = Object.entries(details).map(
    ([key, value]) => [key, typeof value === "object" ? undefined : clip(value)] as const,
  );
  const { name, message } = error as { readonly name: unknown; readonly message: unknown };
  return { ...Object.fromEntries(short), error: { name: clip(name), message: clip(message) } };
}

function clip(value: unknown): unknown {
  return typeof value === "string" ? value.slice(0, MAX_STRING) : value;
}
