/** The built-in tabs of RivetKit's inspector. */
const BUILT_IN = new Set(["workflow", "database", "state", "queue", "schedules", "connections", "console"]);

/** Checks `inspector: { tabs: [...] }` as RivetKit does. @throws {TypeError} when it is invalid */
export function checkInspector(inspector: unknown): void {
  if (inspector === undefined) return;
  if (typeof inspector !== "object" || inspector === null)
    throw new TypeError('actor(): "inspector" must be an object { tabs }');
  const { tabs, ...others } = inspector as { readonly tabs?: unknown };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`actor(): inspector: unknown key "${unknown}"`);
  if (tabs === undefined) return;
  if (!Array.isArray(tabs)) throw new TypeError("actor(): inspector.tabs must be an array");
  const seen = new Set<string>();
  for (const tab of tabs as unknown[]) {
    const id = checkTab(tab);
    if (seen.has(id)) throw new TypeError(`actor(): inspector.tabs has "${id}" twice`);
    seen.add(id);
  }
}

/** A tab of an actor's definition, checked. */
interface Tab {
  readonly id: string;
  /** A built-in tab that is not shown; otherwise a tab of the application's own, which is not served. */
  readonly hidden?: boolean;
}

export function tabsOf(inspector: unknown): readonly Tab[] {
  return (inspector as { readonly tabs?: readonly Tab[] } | undefined)?.tabs ?? [];
}

function checkTab(tab: unknown): string {
  if (typeof tab !== "object" || tab === null)
    throw new TypeError("actor(): an inspector tab must be an object with an id");
  const { id, label, source, icon, hidden } = tab as Record<string, unknown>;
  if (typeof id !== "string" || !/^[A-Za-z0-9_-]+$/.test(id))
    throw new TypeError("actor(): an inspector tab's id must have only letters, digits, _ and -");
  const isBuiltIn = BUILT_IN.has(id);
  if (hidden === true) {
    if (!isBuiltIn) throw new TypeError(`actor(): inspector tab "${id}" is not built in and cannot be hidden`);
    return id;
  }
  if (isBuiltIn) throw new TypeError(`actor(): inspector tab "${id}" is built in; it can only be hidden`);
  for (const [key, value] of Object.entries({ label, source })) {
    if (typeof value !== "string") throw new TypeError(`actor(): inspector tab "${id}": "${key}" must be a string`);
  }
  if (icon !== undefined && typeof icon !== "string")
    throw new TypeError(`actor(): inspector tab "${id}": "icon" must be a string`);
  return id;
}
