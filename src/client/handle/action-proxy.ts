import type { ActionRequest } from "../../actor/api/client-types.js";
import { ActorError, readOptions } from "../../protocol/page.js";

/** Calls an action by its dotted name. */
export type InvokeAction = (name: string, args: unknown[]) => Promise<unknown>;

/** Methods of functions. A nested action of such a name must be called with `action({ name })`. */
const OF_FUNCTIONS = new Set(["apply", "bind", "call"]);

/** A fixed list, since anybody may add to `Object.prototype`: an action with an added name stays callable. */
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
 * Whether a property must not be an action: names every object inherits, and those `await` and `JSON.stringify` look
 * for. No actor can have an action of such a name.
 */
export function isInheritedName(property: string): boolean {
  return INHERITED.has(property);
}

/** A function that calls an action; its properties are the actions nested in it. */
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
 * An object on which every property that is not its own is an action. Own properties are not enumerable, so that a log
 * shows only `kind` and `description`.
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

/** Reads the argument of `action()`. @throws Error when it is not an action request */
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
