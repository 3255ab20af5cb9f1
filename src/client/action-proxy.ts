/** What a call of an action does: its dotted name, and its arguments. */
export type InvokeAction = (name: string, args: unknown[]) => Promise<unknown>;

/** Methods that functions have. An action of such a name, nested in a group, is called with `action({ name })`. */
const OF_FUNCTIONS = new Set(["apply", "bind", "call"]);

/**
 * Whether reading a property must not give an action: what every object inherits, and what `await` and `JSON.stringify`
 * look for. An actor can have no such action; a name like these, asked for with `action({ name })`, is not found.
 */
export function isInheritedName(property: string): boolean {
  return property in Object.prototype || property === "then" || property === "toJSON";
}

/** A function that calls the action, and whose properties are the actions nested in it. */
export function createActionProxy(name: string, invoke: InvokeAction): unknown {
  const nested = new Map<string, unknown>();
  return new Proxy((...args: unknown[]) => invoke(name, args), {
    get(target, property): unknown {
      if (typeof property === "symbol" || isInheritedName(property) || OF_FUNCTIONS.has(property)) return Reflect.get(target, property);
      let action = nested.get(property);
      if (action === undefined) nested.set(property, (action = createActionProxy(`${name}.${property}`, invoke)));
      return action;
    },
  });
}
