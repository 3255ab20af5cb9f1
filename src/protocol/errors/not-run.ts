/** 503 errors that are returned before any code of the actor runs for a call: with `retryable`, it can be retried. */
const NOT_RUN: ReadonlySet<string> = new Set(["actor/starting", "actor/stopping", "guard/service_unavailable"]);

/** Whether an error, as its server made it, says that the call has not run. */
export function saysNotRun({ group, code }: { readonly group: string; readonly code: string }): boolean {
  return NOT_RUN.has(`${group}/${code}`);
}
