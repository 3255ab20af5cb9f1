import type { ActionRequest } from "../../actor/api/client-types.js";
import { ActorError, readOptions } from "../../protocol/index.js";

/** What a call of an action does: its dotted name, and its arguments. */
export type InvokeAction = (name: string, args: unknown[]) => Promise<unknown>;

/** Methods that functions have. An action of such a name, nested in a group, is called with `action({ name })`. */
const OF_FUNCTIONS = new Set(["apply", "bind", "call"]);

/** Written down, since anybody may add to `Object.prototype`: an action whose name is added there stays one. */
const INHERITED: ReadonlySet<string> = new Set([
  "__defineGetter__",
  "__defineSetter__",
  "__lookupGetter__",
  "__lookupSetter__",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toLocaleString",
  "toString",
  "valueOf",
  "then",
  "toJSON",
]);

/**
 * Whether reading a property must not give an action: what every object inherits, and what `await` and `JSON.stringify`
 * look for. An actor can have no such action; a name like these, asked for with `action({ name })`, is not found.
 */
export function isInheritedName(property: string): boolean {
  return INHERITED.has(property);
}

/** A function that calls the action, and whose properties are the actions nested in it. */
export function createActionProxy(name: string, invoke: InvokeAction): unknown {
  const nested = new Map<string, unknown>();
  return new Proxy((...args: unknown[]) => invoke(name, args), {
    get(target, property): unknown {
      if (typeof property === "symbol" || isInheritedName(property) || OF_FUNCTIONS.has(property))
        return Reflect.get(target, property);
      let action = nested.get(property);
      if (action === undefined) nested.set(property, (action = createActionProxy(`${name}.${property}`, invoke)));
      return action;
    },
  });
}

/**
 * An object whose every property that is not its own is an action. Own properties are not enumerable: a log shows none of
 * them, but what `kind` and `description` say.
 */
export function withActions(
  kind: string,
  description: Readonly<Record<string, unknown>>,
  own: object,
  invoke: InvokeAction,
): object {
  const text = `${kind} ${JSON.stringify(description)}`;
  const legible = {
    toString: () => text,
    toJSON: () => description,
    [Symbol.toStringTag]: kind,
    [Symbol.for("nodejs.util.inspect.custom")]: () => text,
  };
  const target = {};
  for (const source of [own, legible]) {
    for (const property of Reflect.ownKeys(source)) {
      Object.defineProperty(target, property, {
        ...Object.getOwnPropertyDescriptor(source, property),
        enumerable: false,
      });
    }
  }
  const actions = new Map<string, unknown>();
  return new Proxy(target, {
    get(_target, property): unknown {
      if (typeof property === "symbol" || Object.hasOwn(target, property) || isInheritedName(property))
        return Reflect.get(target, property);
      let action = actions.get(property);
      if (action === undefined) actions.set(property, (action = createActionProxy(property, invoke)));
      return action;
    },
  });
}

/** What `action()` was given. Throws if it is something else. */
export function readActionRequest(request: ActionRequest): {
  name: string;
  args: readonly unknown[];
  signal: AbortSignal | undefined;
} {
  if (
    typeof request !== "object" ||
    request === null ||
    typeof request.name !== "string" ||
    !Array.isArray(request.args ?? [])
  ) {
    throw new Error(
      "Invalid action call: action() takes { name, args }. To call one by its name, use handle.name(...args).",
    );
  }
  const {
    name,
    args = [],
    signal,
  } = readOptions(
    "action",
    request,
    ["name", "args", "signal", "skipReadyWait"],
    (problem) => new ActorError("request", "invalid", `${problem}.`),
  );
  return { name, args, signal };
}
