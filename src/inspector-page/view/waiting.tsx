import type { Answer } from "./answer.js";
import { Failure } from "./failure.js";

/** What a list shows before it has an answer, or instead of one. */
export function Waiting({ answer: { data, error, reload } }: { readonly answer: Answer<unknown> }) {
  if (error) return <Failure error={error} onRetry={reload} />;
  return data === undefined ? <p class="faint">Reading…</p> : null;
}
