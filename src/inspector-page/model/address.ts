/** Which actor the page shows, and which entry of it, as they stand in the URL's fragment: a key may be a mail address. */
export interface Address {
  readonly name: string;
  readonly key: readonly string[];
  /** The id of the selected entry. */
  readonly entry?: string;
}

/** The actor of a fragment; undefined if it names none. */
export function addressOf(fragment: string): Address | undefined {
  const query = new URLSearchParams(fragment.replace(/^#/, ""));
  const name = query.get("actor");
  const key = keyOfJson(query.get("key") ?? "");
  if (!name || !key) return undefined;
  const entry = query.get("entry");
  return { name, key, ...(entry ? { entry } : {}) };
}

/** The fragment, without `#`. */
export function fragmentOf({ name, key, entry }: Address): string {
  return String(
    new URLSearchParams({ actor: name, key: JSON.stringify(key), ...(entry === undefined ? {} : { entry }) }),
  );
}

/** Whether two addresses are of one actor. */
export function isSameActor(a: Address | undefined, b: Address | undefined): boolean {
  return a?.name === b?.name && JSON.stringify(a?.key) === JSON.stringify(b?.key);
}

/** A key as a person writes it: a JSON array of strings, or else the text itself as the key's only part. */
export function keyOfText(text: string): readonly string[] {
  return keyOfJson(text.trim()) ?? (text === "" ? [] : [text]);
}

/** A key as `keyOfText` reads it. */
export function textOfKey(key: readonly string[]): string {
  const [first = ""] = key;
  const isPlain = key.length === 1 && first !== "" && keyOfJson(first.trim()) === undefined;
  return isPlain ? first : JSON.stringify(key);
}

function keyOfJson(text: string): readonly string[] | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return Array.isArray(key) && key.every((part) => typeof part === "string") ? key : undefined;
  } catch {
    return undefined;
  }
}
