import type { WorkflowErrorView } from "./answers.js";

/** An error of a chain of causes, and how deep it lies. */
export interface ShownError {
  readonly error: WorkflowErrorView;
  readonly depth: number;
  /** What leads to it: `caused by`, or the branch or index of an error with several. */
  readonly by?: string;
}

const MAX_SHOWN = 30;

/**
 * An error with its causes and parts, outermost first; at most thirty. Errors that cause each other are stored as a chain that
 * repeats itself: each of it is shown once.
 */
export function errorChain(error: WorkflowErrorView): ShownError[] {
  const shown: ShownError[] = [];
  const walk = (each: WorkflowErrorView, above: readonly string[], by?: string): void => {
    const same = `${each.name}: ${each.message}`;
    if (shown.length >= MAX_SHOWN || above.includes(same)) return;
    shown.push({ error: each, depth: above.length, ...(by === undefined ? {} : { by }) });
    const trail = [...above, same];
    for (const [name, part] of Object.entries(each.errors ?? {})) walk(part, trail, name);
    if (each.cause) walk(each.cause, trail, "caused by");
  };
  walk(error, []);
  return shown;
}

/** The codes of an error in one word: `payment/declined`. */
export function codeOf({ group, code }: WorkflowErrorView): string | undefined {
  if (code === undefined) return undefined;
  return group === undefined ? String(code) : `${group}/${code}`;
}
