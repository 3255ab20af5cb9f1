import { ownField } from "../../protocol/index.js";

/** Under a symbol that all copies of this package share, and that is no member of anything user code lists. */
const PART = Symbol.for("perdure.part");

/** A part as definitions know it. What it does for an actor is in activation/part.ts. */
export interface DeclaredPart {
  /** An actor has one part of a name. */
  readonly name: string;
}

/** A part, and the member of the definition that brought it: the run handler of `workflow()`, the provider of `db()`. */
export interface CarriedPart {
  readonly part: DeclaredPart;
  readonly carrier: object;
}

/** Leaves a part on what `actor()` is given, for `setup()` to find; a copy of that by `{ ...carrier }` brings it as well. */
export function carryPart<T extends object>(carrier: T, part: DeclaredPart): T {
  return Object.assign(carrier, { [PART]: part });
}

/** The part that a member of a definition brings. */
export function partOf(carrier: unknown): CarriedPart | undefined {
  if ((typeof carrier !== "object" && typeof carrier !== "function") || carrier === null) return undefined;
  const part = ownField(carrier as { readonly [PART]?: DeclaredPart }, PART);
  return part && { part, carrier };
}
