/** What befalls an actor at one of its commits. */
export type Mishap =
  /** The process dies as it makes the commit, which is lost. Whoever waits for an answer gets none. */
  | "dies before"
  /** The process dies once the commit is stored and answers have left. What had begun by then stops. */
  | "dies after"
  /** The actor leaves memory after a commit with which it rests. */
  | "is evicted after";

/** What became durable: a commit, or the deletion of all that the actor had. */
export type Write = "commit" | "deletion";

/** One moment at which a workload is disturbed. */
export interface CrashMoment {
  /** The actor, for people and for comparison: `order ["o-1"]`. */
  readonly actor: string;
  readonly write: Write;
  /** The actor's own commits, and its deletions, are counted from 1. */
  readonly commit: number;
  readonly mishap: Mishap;
}

/** A commit or deletion. */
export interface SeenCommit extends Pick<CrashMoment, "actor" | "write" | "commit"> {
  /** Whether nothing of the actor runs after it. */
  rests: boolean;
}

export function describeActor({ name, key }: { readonly name: string; readonly key: readonly string[] }): string {
  return `${name} ${JSON.stringify(key)}`;
}

/**
 * Every moment at which something can befall the workload: lost commits first, since they repeat the least; each kind in the
 * order of the commits.
 */
export function momentsOf(commits: readonly SeenCommit[]): CrashMoment[] {
  const each = (mishap: Mishap): CrashMoment[] =>
    commits.map(({ actor, write, commit }) => ({ actor, write, commit, mishap }));
  const resting = new Set(commits.flatMap(({ rests }, index) => (rests ? [index] : [])));
  return [
    ...each("dies before"),
    ...each("dies after"),
    ...each("is evicted after").filter((_, index) => resting.has(index)),
  ];
}

/** So many of the moments, in their order, as the seed decides; all of them if there are no more. */
export function sampled<T>(moments: readonly T[], most: number, seed: number): readonly T[] {
  const next = seededRandom(seed);
  let left = most;
  return moments.filter((_, index) => {
    const isTaken = next() * (moments.length - index) < left;
    if (isTaken) left -= 1;
    return isTaken;
  });
}

/** Numbers in [0, 1) that a seed determines (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
