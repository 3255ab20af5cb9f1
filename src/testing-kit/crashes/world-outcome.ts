import { isDeepStrictEqual } from "node:util";
import { KEYS, recordHistory } from "../../actor/index.js";
import { decodeValue, own } from "../../protocol/index.js";
import type { World } from "../../testing/index.js";
import { describeActor } from "./crash-moment.js";

/** What an actor has come to, as far as it must be the same wherever it was disturbed. */
export interface ActorOutcome {
  /** Of its workflow; `none` if it has none. */
  readonly status: string;
  /** The workflow's output, as tagged JSON. */
  readonly output?: unknown;
  /** Why it failed, for people. */
  readonly reason?: string | undefined;
  /** The names of its completed steps, without the numbers of iterations. */
  readonly steps: readonly string[];
}

/** The actors that exist, by their description. */
export type WorldOutcome = ReadonlyMap<string, ActorOutcome>;

export async function outcomeOf(world: World): Promise<WorldOutcome> {
  const outcomes = new Map<string, ActorOutcome>();
  for (const actor of world.actors) {
    await actor.store.outputGate();
    const rows = actor.store.dump();
    if (rows.has(KEYS.actor)) outcomes.set(describeActor(actor), actorOutcome(rows));
  }
  return outcomes;
}

function actorOutcome(rows: ReadonlyMap<string, Uint8Array>): ActorOutcome {
  const record = decodeValue(rows.get(KEYS.actor) as Uint8Array) as { readonly workflow?: unknown };
  if (record.workflow === undefined) return { status: "none", steps: [] };
  const { run, entries } = recordHistory(rows, 0);
  const completed = entries.filter(({ kind, status, at }) => kind === "step" && status === "completed" && at[0] !== -1);
  const names = completed.map(({ at }) => at.filter((segment) => typeof segment === "string").join("/"));
  return {
    status: run.status,
    ...(run.status === "completed" && { output: run.output }),
    reason: reasonOf(run.failure),
    steps: [...new Set(names)].sort(),
  };
}

/** The message of a failure's error. */
function reasonOf(failure: unknown): string | undefined {
  const { error } = own(failure as { readonly error?: { readonly message?: unknown } });
  return typeof error?.message === "string" ? error.message : undefined;
}

/** One way in which an actor came out other than it did undisturbed. */
export interface Difference {
  readonly actor: string;
  /** Whether it did not come as far, waits for something still, came to something else, or did more. */
  readonly kind: "less" | "waits" | "other" | "more";
  /** A clause: `order ["o-1"] completed with 0 instead of 33`. */
  readonly text: string;
}

/** The first difference, if any. */
export function differenceOf(expected: WorldOutcome, found: WorldOutcome): Difference | undefined {
  for (const [actor, wanted] of expected) {
    const clause = clauseOf(wanted, found.get(actor));
    if (clause) return { actor, kind: clause[0], text: `${actor} ${clause[1]}` };
  }
  const more = [...found.keys()].find((actor) => !expected.has(actor));
  return more === undefined
    ? undefined
    : { actor: more, kind: "more", text: `${more} exists, which it does not otherwise` };
}

function clauseOf(
  wanted: ActorOutcome,
  found: ActorOutcome | undefined,
): readonly [Difference["kind"], string] | undefined {
  if (!found) return ["less", "does not exist"];
  if (found.status !== wanted.status)
    return [found.status === "running" ? "waits" : "other", `${isNow(found)} instead of ${wanted.status}`];
  if (!isDeepStrictEqual(found.output, wanted.output))
    return ["other", `completed with ${shown(found.output)} instead of ${shown(wanted.output)}`];
  const missing = wanted.steps.find((step) => !found.steps.includes(step));
  if (missing !== undefined) return ["less", `did not complete its step "${missing}"`];
  const added = found.steps.find((step) => !wanted.steps.includes(step));
  return added === undefined ? undefined : ["more", `completed a step "${added}" that it does not run otherwise`];
}

function isNow({ status, reason }: ActorOutcome): string {
  return `is ${status}${reason === undefined ? "" : ` (${shown(reason)})`}`;
}

const MAX_SHOWN = 200;

function shown(tree: unknown): string {
  const text = JSON.stringify(tree) ?? "undefined";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
