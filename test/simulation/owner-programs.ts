/** Random workflow programs, and what owners make of them while they run: gates, placeholders, more operations, other bodies. */

export type Node =
  | {
      readonly kind: "step";
      readonly name: string;
      delayMs: number;
      readonly rollback: boolean;
      readonly breakable: boolean;
      readonly flaky: boolean;
    }
  | { readonly kind: "sleep"; readonly name: string; durationMs: number }
  | {
      readonly kind: "receive";
      readonly name: string;
      readonly queues: readonly string[];
      readonly timeoutMs: number;
      readonly count: number;
      readonly handled: boolean;
      readonly completable: boolean;
    }
  | {
      readonly kind: "join" | "race";
      readonly name: string;
      readonly branches: readonly { readonly name: string; readonly body: Node[] }[];
    }
  | { readonly kind: "loop"; readonly name: string; readonly times: number; readonly body: Node[] }
  | { readonly kind: "try"; readonly name: string; readonly body: Node[] }
  /** A body whose failure, or whose end, is followed by a durable step; the failure goes on, wrapped or not. */
  | {
      readonly kind: "guard";
      readonly name: string;
      readonly when: "catch" | "finally";
      readonly wraps: boolean;
      readonly body: Node[];
    }
  /** A gate; what is behind it runs only in runs that had not passed it when it came. */
  | { readonly kind: "gate"; readonly name: string; latest: number; readonly body: Node[] }
  | { readonly kind: "removed"; readonly name: string; readonly original: "step" | "sleep" | "message" };

const MAX_DEPTH = 3;

export function ownerProgram(random: () => number): Node[] {
  const below = (limit: number): number => Math.floor(random() * limit);
  const chance = (probability: number): boolean => random() < probability;

  const undoes = chance(0.7);

  const block = (depth: number, most: number, inParallel: boolean): Node[] =>
    Array.from({ length: 1 + below(most) }, (_, index) => node(depth, index, inParallel));
  const node = (depth: number, index: number, inParallel: boolean): Node => {
    const roll = random();
    const nests = depth < MAX_DEPTH;
    if (roll < 0.3 || (!nests && roll < 0.6)) {
      return {
        kind: "step",
        name: `s${index}`,
        delayMs: chance(0.5) ? 0 : below(60),
        rollback: undoes && chance(0.6),
        breakable: chance(0.5),
        flaky: chance(0.15),
      };
    }
    if (roll < 0.42) return { kind: "sleep", name: `z${index}`, durationMs: 50 + below(5_000) };
    if (roll < 0.62 || !nests) {
      return {
        kind: "receive",
        name: `r${chance(0.2) ? "" : index}`,
        queues: chance(0.3) ? [] : chance(0.5) ? ["a"] : ["b"],
        timeoutMs: chance(0.15) ? 0 : below(4_000),
        count: chance(0.5) ? 0 : 1 + below(2),
        handled: chance(0.6),
        completable: !inParallel && chance(0.3),
      };
    }
    if (roll < 0.7) return { kind: "join", name: `j${index}`, branches: branches(depth) };
    if (roll < 0.78) return { kind: "race", name: `c${index}`, branches: branches(depth) };
    if (roll < 0.85)
      return { kind: "loop", name: `l${index}`, times: 1 + below(3), body: block(depth + 1, 2, inParallel) };
    if (roll < 0.92) return { kind: "try", name: `y${index}`, body: block(depth + 1, 3, inParallel) };
    return {
      kind: "guard",
      name: `f${index}`,
      when: chance(0.5) ? "catch" : "finally",
      wraps: chance(0.5),
      body: rename(block(depth + 1, 2, inParallel), `f${index}-`),
    };
  };
  const branches = (depth: number): { name: string; body: Node[] }[] =>
    Array.from({ length: 1 + below(3) }, (_, index) => ({ name: `b${index}`, body: block(depth + 1, 2, true) }));
  return block(0, 6, false);
}

/** What stands in a guard stands in the scope around it. */
function rename(body: Node[], prefix: string): Node[] {
  return body.map((node) =>
    node.kind === "guard"
      ? { ...node, name: prefix + node.name, body: rename(node.body, prefix) }
      : { ...node, name: prefix + node.name },
  );
}

/** The next deploy: one to three changes that an owner may make while runs are under way. `serial` makes new names. */
export function redeploy(program: Node[], random: () => number, serial: number): Node[] {
  const next = structuredClone(program);
  const below = (limit: number): number => Math.floor(random() * limit);
  const blocks = blocksOf(next);
  for (let change = 0; change <= below(3); change += 1) {
    const block = blocks[below(blocks.length)] as Node[];
    const at = below(block.length + 1);
    const name = `g${serial}-${change}`;
    const roll = random();
    if (roll < 0.35) block.splice(at, 0, { kind: "gate", name, latest: 1 + below(3), body: [] });
    else if (roll < 0.45) block.splice(at, 0, { kind: "removed", name, original: "step" });
    else if (roll < 0.55)
      block.splice(at, 0, { kind: "try", name, body: [{ kind: "gate", name, latest: 2, body: [] }] });
    else if (roll < 0.7)
      block.splice(at, 0, {
        kind: "gate",
        name,
        latest: 2,
        body: [
          {
            kind: "step",
            name: `${name}-s`,
            delayMs: 5,
            rollback: hasRollback(program) && random() < 0.5,
            breakable: true,
            flaky: false,
          },
        ],
      });
    else {
      const node = block[below(block.length)];
      if (node) alter(block, node, below);
    }
  }
  return next;
}

function alter(block: Node[], node: Node, below: (limit: number) => number): void {
  const at = block.indexOf(node);
  if (node.kind === "gate") {
    if (node.body.length > 0 || below(2) === 0) node.latest += 1;
    else block.splice(at, 1);
  } else if (node.kind === "step") {
    node.delayMs = below(60);
    // One that may have failed has decided which way its run went.
    if (!node.breakable && !node.flaky && below(2) === 0)
      block[at] = { kind: "removed", name: node.name, original: "step" };
  } else if (node.kind === "sleep") {
    if (below(2) === 0) node.durationMs = below(9_000);
    else block[at] = { kind: "removed", name: node.name, original: "sleep" };
  } else if (
    node.kind === "receive" &&
    node.handled &&
    !block.some((each) => each !== node && each.name === node.name)
  ) {
    block[at] = { kind: "removed", name: node.name, original: "message" };
  }
}

function blocksOf(body: Node[]): Node[][] {
  return [
    body,
    ...body.flatMap((node) =>
      "branches" in node
        ? node.branches.flatMap((branch) => blocksOf(branch.body))
        : "body" in node && node.kind !== "gate"
          ? blocksOf(node.body)
          : [],
    ),
  ];
}

/** True for one in which something can be undone. */
export function hasRollback(body: readonly Node[]): boolean {
  return body.some(
    (node) =>
      (node.kind === "step" && node.rollback) ||
      ("body" in node && hasRollback(node.body)) ||
      ("branches" in node && node.branches.some((branch) => hasRollback(branch.body))),
  );
}

/** Steps that may be broken, by the names that lead to them. */
export function breakables(body: readonly Node[], path = ""): string[] {
  return body.flatMap((node) => {
    const at = `${path}/${node.name}`;
    if (node.kind === "step") return [...(node.breakable ? [at] : []), ...(node.rollback ? [`undo ${at}`] : [])];
    if ("branches" in node) return node.branches.flatMap((branch) => breakables(branch.body, `${at}/${branch.name}`));
    if (node.kind === "guard" || node.kind === "gate")
      return [...breakables(node.body, path), ...(node.kind === "guard" ? [`${at}-then`] : [])];
    return "body" in node ? breakables(node.body, at) : [];
  });
}
