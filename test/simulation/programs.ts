/** Random workflow programs: all primitives, nested, each of them ending for certain. */

export type Node =
  | {
      readonly kind: "step";
      readonly name: string;
      readonly delayMs: number;
      readonly failures: number;
      readonly ephemeral: boolean;
      readonly rollback: boolean;
    }
  | { readonly kind: "tryStep"; readonly name: string; readonly end: "ok" | "critical" | "exhausted" | "timeout" }
  | { readonly kind: "sleep"; readonly name: string; readonly durationMs: number }
  | {
      readonly kind: "receive";
      readonly name: string;
      readonly queues: readonly string[];
      readonly timeoutMs: number | undefined;
      readonly count: number;
      readonly completable: boolean;
    }
  | {
      readonly kind: "join" | "race";
      readonly name: string;
      readonly branches: readonly { readonly name: string; readonly body: readonly Node[] }[];
    }
  | {
      readonly kind: "loop";
      readonly name: string;
      readonly times: number;
      readonly interval: number;
      readonly body: readonly Node[];
    }
  | { readonly kind: "try"; readonly name: string; readonly fails: boolean; readonly body: readonly Node[] }
  | { readonly kind: "version"; readonly name: string }
  | { readonly kind: "foreign"; readonly delayMs: number };

export interface Program {
  readonly body: readonly Node[];
  /** Throws a plain error at its end, so that everything open is undone. */
  readonly fails: boolean;
}

const MAX_DEPTH = 4;
/** In place of such lengths, some steps work on through extensions of the lease. */
const LONG_MS: ReadonlyMap<number, number> = new Map([
  [37, 1_500],
  [38, 6_000],
  [39, 25_000],
]);

export function randomProgram(random: () => number): Program {
  const below = (limit: number): number => Math.floor(random() * limit);
  const chance = (probability: number): boolean => random() < probability;
  const fails = chance(0.35);

  const stepMs = (drawn: number): number => LONG_MS.get(drawn) ?? drawn;
  const block = (depth: number, most: number, parallel: boolean): Node[] => {
    const length = 1 + below(most);
    return Array.from({ length }, (_, index) => node(depth, index, parallel));
  };
  const node = (depth: number, index: number, parallel: boolean): Node => {
    const roll = random();
    const nested = depth < MAX_DEPTH;
    if (roll < 0.34 || (!nested && roll < 0.6)) {
      return {
        kind: "step",
        name: `s${index}`,
        delayMs: chance(0.3) ? 0 : stepMs(below(40)),
        failures: chance(0.25) ? 1 + below(2) : 0,
        ephemeral: chance(0.15),
        rollback: fails && chance(0.5),
      };
    }
    if (roll < 0.42)
      return {
        kind: "tryStep",
        name: `t${index}`,
        end: (["ok", "critical", "exhausted", "timeout"] as const)[below(4)] ?? "ok",
      };
    if (roll < 0.52) return { kind: "sleep", name: `z${index}`, durationMs: below(500) - 10 };
    if (roll < 0.64) {
      return {
        kind: "receive",
        name: `r${index}`,
        queues: chance(0.4) ? [] : chance(0.5) ? ["a"] : ["a", "b"],
        // Without a timeout it waits for as long as it takes; whoever runs the program goes on sending.
        timeoutMs: depth === 0 && chance(0.4) ? undefined : below(600),
        count: chance(0.5) ? 0 : 1 + below(3),
        // Held messages of parallel branches would be each other's "previous message".
        completable: chance(0.4) && !parallel,
      };
    }
    if (!nested || roll < 0.67)
      return chance(0.5) ? { kind: "version", name: `v${index}` } : { kind: "foreign", delayMs: below(30) };
    if (roll < 0.77) return { kind: "join", name: `j${index}`, branches: branches(depth) };
    if (roll < 0.86) return { kind: "race", name: `c${index}`, branches: branches(depth) };
    if (roll < 0.94)
      return {
        kind: "loop",
        name: `l${index}`,
        times: 1 + below(5),
        interval: 1 + below(3),
        body: block(depth + 1, 2, parallel),
      };
    return { kind: "try", name: `y${index}`, fails: chance(0.5), body: block(depth + 1, 3, parallel) };
  };
  const branches = (depth: number): { name: string; body: Node[] }[] =>
    Array.from({ length: 1 + below(3) }, (_, index) => ({ name: `b${index}`, body: block(depth + 1, 2, true) }));

  return {
    body: block(0, 5, false),
    fails,
  };
}
