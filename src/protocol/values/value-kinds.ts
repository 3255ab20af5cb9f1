import { nameOfView, viewKindByName } from "./typed-arrays.js";

/** How the codec classifies an object. `other` cannot be encoded. */
export type ValueKind = "array" | "object" | "map" | "set" | "date" | "regexp" | "error" | "buffer" | "view" | "other";

const KIND_BY_TAG = new Map<string, ValueKind>([
  ["Object", "object"],
  ["Array", "array"],
  ["Map", "map"],
  ["Set", "set"],
  ["Date", "date"],
  ["RegExp", "regexp"],
  ["ArrayBuffer", "buffer"],
  ["DataView", "view"],
]);

const KIND_BY_PROTOTYPE = new Map<unknown, ValueKind>([
  [null, "object"],
  [Object.prototype, "object"],
  [Array.prototype, "array"],
  [Map.prototype, "map"],
  [Set.prototype, "set"],
  [Date.prototype, "date"],
  [RegExp.prototype, "regexp"],
  [ArrayBuffer.prototype, "buffer"],
  [DataView.prototype, "view"],
]);

/** Whether a kind contains other values, and so counts as a level. */
export function isContainer(kind: ValueKind): boolean {
  return kind === "object" || kind === "array" || kind === "map" || kind === "set" || kind === "error";
}

/** The kind of an object. Instances of classes, and of subclasses of the built-in ones, are `other`, except errors. */
export function kindOf(value: object): ValueKind {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype || isNative(prototype, "Array") ? "array" : "other";
  const known = KIND_BY_PROTOTYPE.get(prototype);
  if (known !== undefined) return known === "array" ? "other" : known;
  if (value instanceof Error) return "error";
  return kindByTag(value, prototype);
}

/** The slow path: typed arrays, Node's Buffer, and objects from another realm. */
function kindByTag(value: object, prototype: unknown): ValueKind {
  if (ArrayBuffer.isView(value)) {
    const name = nameOfView(value);
    if (name !== "DataView" && viewKindByName(name) === undefined) return "other";
    return isNative(prototype, name) || isNodeBuffer(prototype) ? "view" : "other";
  }
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === "Error") return "error";
  const kind = KIND_BY_TAG.get(tag);
  return kind !== undefined && kind !== "array" && isNative(prototype, tag) ? kind : "other";
}

/** Whether `prototype` belongs to the built-in class `name`, of any realm. */
function isNative(prototype: unknown, name: string): boolean {
  if (typeof prototype !== "object" || prototype === null || !Object.hasOwn(prototype, "constructor")) return false;
  const maker: unknown = (prototype as { constructor?: unknown }).constructor;
  return (
    typeof maker === "function" &&
    maker.name === name &&
    Function.prototype.toString.call(maker).includes("[native code]")
  );
}

/** Node's Buffer is the one subclass that people pass without noticing: it is encoded as a Uint8Array. */
function isNodeBuffer(prototype: unknown): boolean {
  if (typeof prototype !== "object" || prototype === null) return false;
  const maker: unknown = (prototype as { constructor?: unknown }).constructor;
  return (
    typeof maker === "function" && maker.name === "Buffer" && Object.getPrototypeOf(prototype) === Uint8Array.prototype
  );
}

/** Describes a value for messages: "function", "Promise", "instance of Foo". Never throws. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  try {
    const kind = kindOf(value);
    const name: unknown = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor
      ?.name;
    if (kind === "array" || kind === "object") return kind;
    if (typeof name !== "string" || name === "") return "class instance";
    return kind !== "other" || NAMED.has(name) ? name : `instance of ${name}`;
  } catch {
    return "object that cannot be read";
  }
}

const NAMED = new Set(["Promise", "WeakMap", "WeakSet", "WeakRef", "SharedArrayBuffer"]);
