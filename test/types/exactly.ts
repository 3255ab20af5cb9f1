type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `exactly<string>()(value)` compiles if the value's type is exactly that: no subtype, no `any`. */
export function exactly<Expected>(): <Actual>(
  value: Actual,
  ...mismatch: Equal<Actual, Expected> extends true ? [] : [expected: Expected]
) => void {
  return () => {};
}
