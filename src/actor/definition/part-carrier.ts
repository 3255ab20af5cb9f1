import { ownField } from "../../protocol/index.js";

/** A registered symbol: shared by all copies of this package, and not listed among an object's keys. */
const PART = Symbol.for("perdure.part");

/** A part as definitions know it. Its behaviour is in activation/part.ts. */
export interface DeclaredPart {
  /** Unique among the parts of an actor. */
  readonly name: string;
}

/** A part and the member of the definition that carries it: the run handler of `workflow()`, the provider of `db()`. */
export interface CarriedPart {
  readonly part: DeclaredPart;
  readonly carrier: object;
}

/** Attaches a part to a member of a definition, for `setup()` to find. A copy made with `{ ...carrier }` has it too. */
export function carryPart<T extends object>(carrier: T, part: DeclaredPart): T {
  return Object.assign(carrier, { [PART]: part });
}

/** The part that a member of a definition carries. */
export function partOf(carrier: unknown): CarriedPart | undefined {
  if ((typeof carrier !== "object" && typeof carrier !== "function") || carrier === null) return undefined;
  const part = ownField(carrier as { readonly [PART]?: DeclaredPart }, PART);
  return part && { part, carrier };
}
