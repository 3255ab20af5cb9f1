/**
 * `Date` as a Proxy over the real one, whose present is that of `now()`, or the real one where that is undefined. Dates it
 * makes are real: a subclass would break `instanceof` for those that others make.
 */
export function virtualDate(real: DateConstructor, now: () => number | undefined): DateConstructor {
  const realNow = real.now;
  const virtualNow = { now: () => now() ?? realNow.call(real) }.now;
  const dates: DateConstructor = new Proxy(real, {
    // `Date()` is a text of the present, whatever its arguments.
    apply: () => new real(virtualNow()).toString(),
    construct(_, args: unknown[], newTarget: unknown) {
      const present = args.length === 0 ? now() : undefined;
      return Reflect.construct(
        real,
        present === undefined ? args : [present],
        (newTarget === dates ? real : newTarget) as NewableFunction,
      ) as Date;
    },
    // A test may put a `now` of its own into its place.
    get: (_, name) => (name === "now" && real.now === realNow ? virtualNow : Reflect.get(real, name)),
  });
  return dates;
}
