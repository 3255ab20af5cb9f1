import { filesIn, read, withoutComments } from "../architecture/source-files.js";

/**
 * Names that the language itself looks up through the prototype of any object: property descriptors, promises, iterators,
 * conversions. With one of these on `Object.prototype`, no program runs.
 */
const OF_THE_LANGUAGE = new Set([
  "get",
  "set",
  "value",
  "writable",
  "enumerable",
  "configurable",
  "then",
  "next",
  "done",
  "return",
  "throw",
  "constructor",
  "toString",
  "toLocaleString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toJSON",
  "__proto__",
  // Traps of a proxy's handler.
  "apply",
  "construct",
  "defineProperty",
  "deleteProperty",
  "getOwnPropertyDescriptor",
  "getPrototypeOf",
  "has",
  "isExtensible",
  "ownKeys",
  "preventExtensions",
  "setPrototypeOf",
]);

/**
 * Names that the platform looks up in the same way, in what we pass it and in what user code does: of `RequestInit`,
 * `ResponseInit` and listeners, and of the formats of dates with which the cron library calls `Intl`. Our own code is watched
 * for reading them; what anybody puts there reaches the platform all the same. `required` is what Node's own `Request` looks
 * up in its description of `RequestInit`.
 */
export const OF_THE_PLATFORM: ReadonlySet<string> = new Set([
  "body",
  "cache",
  "credentials",
  "duplex",
  "headers",
  "method",
  "mode",
  "redirect",
  "referrer",
  "signal",
  "status",
  "statusText",
  "type",
  "window",
  "capture",
  "once",
  "passive",
  "calendar",
  "day",
  "hour",
  "minute",
  "month",
  "second",
  "timeZone",
  "weekday",
  "year",
  "required",
]);

/** Every word of the sources that could be the name of a property: of a row, a record, an envelope, a configuration, an option. */
export function propertyNames(): string[] {
  const names = new Set<string>();
  // The inspector's page is code of the browser in one string, its framework included.
  for (const path of filesIn("src/**/*.ts").filter((file) => !file.endsWith("/page-document.ts"))) {
    for (const [name] of withoutComments(read(path)).matchAll(/[A-Za-z_$][\w$]*/g))
      if (!OF_THE_LANGUAGE.has(name) && name.length <= 40) names.add(name);
  }
  return [...names].sort();
}

/** Runs `body` while `Object.prototype` holds all the names, each with that value, as an assignment by anybody's code would leave it. */
export async function whilePolluted<T>(names: readonly string[], value: unknown, body: () => Promise<T>): Promise<T> {
  const added = names.filter((name) => !(name in Object.prototype));
  for (const name of added)
    Object.defineProperty(Object.prototype, name, { value, writable: true, configurable: true, enumerable: true });
  try {
    return await body();
  } finally {
    for (const name of added) Reflect.deleteProperty(Object.prototype, name);
  }
}

/** Runs `body` and gives the places in `src/` that read one of the names through `Object.prototype`, once each. */
export async function readsThroughPrototype(names: readonly string[], body: () => Promise<unknown>): Promise<string[]> {
  const found = new Set<string>();
  const added = names.filter((name) => !(name in Object.prototype));
  for (const name of added) {
    Object.defineProperty(Object.prototype, name, {
      configurable: true,
      get: () => void note(found, name),
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
      },
    });
  }
  try {
    await body();
  } finally {
    for (const name of added) Reflect.deleteProperty(Object.prototype, name);
  }
  return [...found].sort();
}

/** The reader is whose code stands on top of the stack, below the getter. */
function note(found: Set<string>, name: string): void {
  const [, , , frame = ""] = (new Error().stack ?? "").split("\n");
  const place = /\/(src\/[\w/.-]+\.ts):(\d+)/.exec(frame);
  if (place) found.add(`${place[1]}:${place[2]} ${name}`);
}
