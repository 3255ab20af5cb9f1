/**
 * Which steps are meant: a step's name, wherever in its workflow it stands, or its whole path, in which `"*"` stands for any
 * one segment (the number of an iteration, the name of a branch): `["poll", "*", "charge"]`.
 */
export type StepPath = string | readonly (string | number)[];

/** @throws TypeError when it is neither a name nor a path of names and numbers */
export function checkStepPath(path: StepPath): StepPath {
  if (typeof path === "string") return path;
  const isPath =
    Array.isArray(path) &&
    path.length > 0 &&
    path.every((segment) => typeof segment === "string" || Number.isSafeInteger(segment));
  if (!isPath) throw new TypeError("A step must be given by its name, or by its path as an array of names and numbers");
  return [...path];
}

export function matchesStep(path: StepPath, location: readonly (string | number)[]): boolean {
  if (typeof path === "string") return location.at(-1) === path;
  return path.length === location.length && path.every((segment, at) => segment === "*" || segment === location[at]);
}

export function describeStep(path: StepPath): string {
  return JSON.stringify(path);
}
