/** Values as a person reads them, close to how JavaScript writes them, and bounded: a value may have 2 MB. */

const INDENT = "  ";
/** Short lists and records stand on one line. */
const ONE_LINE = 72;

export interface ValueText {
  readonly text: string;
  /** Whether some was left out. */
  readonly isCut: boolean;
}

/** `limit`: characters, about. */
export function valueText(value: unknown, limit = 20_000): ValueText {
  const writer = new Writer(limit);
  const text = writer.write(value, "");
  return { text, isCut: writer.isFull };
}

class Writer {
  #left: number;
  isFull = false;

  constructor(limit: number) {
    this.#left = limit;
  }

  write(value: unknown, indent: string): string {
    if (this.#left <= 0) {
      this.isFull = true;
      return "…";
    }
    const leaf = leafText(value);
    if (leaf !== undefined) return this.#take(leaf);
    if (Array.isArray(value))
      return this.#block(
        "[",
        "]",
        this.#items(value, indent, (item, deeper) => this.write(item, deeper)),
        indent,
      );
    if (value instanceof Map)
      return this.#block(
        `Map(${value.size}) {`,
        "}",
        this.#items(
          value,
          indent,
          ([key, item], deeper) => `${this.write(key, deeper)} => ${this.write(item, deeper)}`,
        ),
        indent,
      );
    if (value instanceof Set)
      return this.#block(
        `Set(${value.size}) {`,
        "}",
        this.#items(value, indent, (item, deeper) => this.write(item, deeper)),
        indent,
      );
    return this.#block(
      "{",
      "}",
      this.#items(
        Object.entries(value as object),
        indent,
        ([key, item], deeper) => `${keyText(key)}: ${this.write(item, deeper)}`,
      ),
      indent,
    );
  }

  #items<T>(items: Iterable<T>, indent: string, write: (item: T, indent: string) => string): string[] {
    const texts: string[] = [];
    for (const item of items) {
      if (this.#left <= 0) {
        this.isFull = true;
        texts.push("…");
        break;
      }
      texts.push(write(item, indent + INDENT));
      this.#left -= 2;
    }
    return texts;
  }

  #block(open: string, close: string, items: readonly string[], indent: string): string {
    if (items.length === 0) return `${open}${close}`;
    const flat = items.join(", ");
    const space = open.endsWith("[") ? "" : " ";
    if (flat.length + indent.length <= ONE_LINE && !flat.includes("\n"))
      return `${open}${space}${flat}${space}${close}`;
    return `${open}\n${items.map((item) => `${indent}${INDENT}${item}`).join(",\n")}\n${indent}${close}`;
  }

  #take(text: string): string {
    const cut = text.length > this.#left ? `${text.slice(0, this.#left)}…` : text;
    if (cut !== text) this.isFull = true;
    this.#left -= cut.length;
    return cut;
  }
}

function leafText(value: unknown): string | undefined {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Date(invalid)" : `Date(${value.toISOString()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof ArrayBuffer) return bytesText("ArrayBuffer", new Uint8Array(value));
  if (ArrayBuffer.isView(value))
    return bytesText(value.constructor.name, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return undefined;
}

const SHOWN_BYTES = 32;

function bytesText(name: string, bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, SHOWN_BYTES), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${name}(${bytes.length} bytes: ${shown}${bytes.length > SHOWN_BYTES ? " …" : ""})`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
