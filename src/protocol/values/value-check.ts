import { partsOfRegExp, timeOf } from "./intrinsics.js";
import { ActorError } from "../errors/errors.js";
import { MAX_STORED_DEPTH } from "../limits.js";
import { bytesOfView } from "./typed-arrays.js";
import { describeValue, isContainer, kindOf } from "./value-kinds.js";
import { membersOf, propertyPath } from "./value-members.js";

/** What prevents a value from being encoded, and where. */
interface Problem {
  readonly found: string;
  /** From the inside out: filled as the walk returns. */
  readonly path: string[];
}

/** The most members visited: more than any storable value has. */
const MAX_VISITS = 2_500_000;

/**
 * Checks that a value can be encoded, whatever its size. `rootPath` starts the path in the message; `depth` is the number of
 * containers around the value.
 *
 * @throws {value/not_serializable} when it holds a function, symbol, promise, weak collection, class instance, accessor
 * property or cycle, or is nested too deeply; metadata `{path, found}`
 */
export function checkValue(value: unknown, rootPath = "$", depth = 0, maxDepth = MAX_STORED_DEPTH): void {
  const problem = new ValueWalk(maxDepth).find(value, depth);
  if (problem !== undefined) throw notSerializable(rootPath + problem.path.reverse().join(""), problem.found);
}

/** The error for what was found at a path. */
export function notSerializable(path: string, found: string): ActorError {
  const message = `Value at ${path} is not serializable: ${found}`;
  return new ActorError("value", "not_serializable", message, { metadata: { path, found } });
}

class ValueWalk {
  /** The levels inside each visited object; -1 during its visit. Shared objects are visited once. */
  readonly #levels = new Map<object, number>();
  /** The levels of the value visited last, including itself. */
  #last = 0;
  #visits = 0;
  readonly #maxDepth: number;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  find(value: unknown, depth: number): Problem | undefined {
    this.#last = 0;
    if (typeof value === "function" || typeof value === "symbol") return problem(describeValue(value));
    if (typeof value !== "object" || value === null) return undefined;
    const known = this.#levels.get(value);
    if (known === -1) return problem("cycle");
    if (known === undefined) return this.#object(value, depth);
    if (depth + known > this.#maxDepth) return this.#tooDeep();
    this.#last = known;
    return undefined;
  }

  #object(value: object, depth: number): Problem | undefined {
    try {
      const kind = kindOf(value);
      if (kind === "other") return problem(describeValue(value));
      if (!isContainer(kind)) return void readLeaf(value);
      if (depth >= this.#maxDepth) return this.#tooDeep();
      this.#levels.set(value, -1);
      const found =
        kind === "object"
          ? this.#properties(value as Record<string, unknown>, depth + 1)
          : this.#members(value, depth + 1);
      if (found !== undefined) return found;
      this.#levels.set(value, ++this.#last);
      return undefined;
    } catch {
      // A getter or a proxy that throws, a detached buffer, an object that only looks like a Map.
      return problem(`${describeValue(value)} that cannot be read`);
    }
  }

  #tooDeep(): Problem {
    return problem(`nesting deeper than ${this.#maxDepth} levels`);
  }

  #properties(record: Readonly<Record<string, unknown>>, depth: number): Problem | undefined {
    let levels = 0;
    for (const key of Object.keys(record)) {
      if (++this.#visits > MAX_VISITS) break;
      const property = Object.getOwnPropertyDescriptor(record, key);
      const isAccessor = property !== undefined && !Object.hasOwn(property, "value");
      const found = isAccessor ? problem("accessor property") : this.find(record[key], depth);
      if (found !== undefined) return at(found, propertyPath(key));
      levels = Math.max(levels, this.#last);
    }
    this.#last = levels;
    return undefined;
  }

  #members(value: object, depth: number): Problem | undefined {
    let levels = 0;
    for (const [path, member] of membersOf(value)) {
      if (++this.#visits > MAX_VISITS) break;
      const found = this.find(member, depth);
      if (found !== undefined) return at(found, path());
      levels = Math.max(levels, this.#last);
    }
    this.#last = levels;
    return undefined;
  }
}

/** Reads a leaf as the encoder will: throws if it cannot be read. */
function readLeaf(value: object): void {
  if (ArrayBuffer.isView(value)) bytesOfView(value);
  else if (value instanceof Date) timeOf(value);
  else if (value instanceof RegExp) partsOfRegExp(value);
  else if (value instanceof ArrayBuffer) new Uint8Array(value);
}

function problem(found: string): Problem {
  return { found, path: [] };
}

function at(found: Problem, segment: string): Problem {
  found.path.push(segment);
  return found;
}
