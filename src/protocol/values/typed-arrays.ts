/** A kind of typed array: its name, its CBOR tag (RFC 8746, little-endian) and its constructor. */
export interface ViewKind {
  readonly name: string;
  readonly tag: number;
  readonly bytesPerElement: number;
  readonly make: new (buffer: ArrayBuffer) => ArrayBufferView;
}

type Getter = (this: object) => unknown;

/** The getters of the class: own properties of these names are ignored. */
const TYPED_ARRAY = {
  ...gettersOf(Object.getPrototypeOf(Uint8Array.prototype) as object),
  name: getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag),
};
const DATA_VIEW = gettersOf(DataView.prototype);

type ViewConstructor = { new (buffer: ArrayBuffer): ArrayBufferView; readonly BYTES_PER_ELEMENT: number };

const KINDS: readonly ViewKind[] = [
  kind("Uint8Array", 64, Uint8Array),
  kind("Uint8ClampedArray", 68, Uint8ClampedArray),
  kind("Uint16Array", 69, Uint16Array),
  kind("Uint32Array", 70, Uint32Array),
  kind("BigUint64Array", 71, BigUint64Array),
  kind("Int8Array", 72, Int8Array),
  kind("Int16Array", 77, Int16Array),
  kind("Int32Array", 78, Int32Array),
  kind("BigInt64Array", 79, BigInt64Array),
  ...float16Kind(),
  kind("Float32Array", 85, Float32Array),
  kind("Float64Array", 86, Float64Array),
];

const BY_NAME = new Map(KINDS.map((entry) => [entry.name, entry]));
const BY_TAG = new Map(KINDS.map((entry) => [entry.tag, entry]));

/** All kinds that this runtime has. */
export function viewKinds(): readonly ViewKind[] {
  return KINDS;
}

/** The kind called `name` ("Float64Array"), if this runtime has it. */
export function viewKindByName(name: string): ViewKind | undefined {
  return BY_NAME.get(name);
}

/** The kind with this CBOR tag, if this runtime has it. */
export function viewKindByTag(tag: number): ViewKind | undefined {
  return BY_TAG.get(tag);
}

/** The name of a view's class, whatever own properties it has. */
export function nameOfView(view: ArrayBufferView): string {
  return (TYPED_ARRAY.name.call(view) as string | undefined) ?? "DataView";
}

/** The bytes of a view, not the rest of its buffer; not copied. Throws a TypeError if the buffer is detached. */
export function bytesOfView(view: ArrayBufferView): Uint8Array {
  const { buffer, byteOffset, byteLength } = TYPED_ARRAY.name.call(view) === undefined ? DATA_VIEW : TYPED_ARRAY;
  return new Uint8Array(
    buffer.call(view) as ArrayBuffer,
    byteOffset.call(view) as number,
    byteLength.call(view) as number,
  );
}

/** A new view on a copy of `bytes`; `undefined` if they are not a whole number of elements. */
export function viewOfBytes(kindOfView: ViewKind, bytes: Uint8Array): ArrayBufferView | undefined {
  if (bytes.length % kindOfView.bytesPerElement !== 0) return undefined;
  return new kindOfView.make(copyOfBytes(bytes).buffer);
}

/** A copy in a buffer of its own. (`slice()` of a Node Buffer would still be a view.) */
export function copyOfBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

function kind(name: string, tag: number, make: ViewConstructor): ViewKind {
  return { name, tag, bytesPerElement: make.BYTES_PER_ELEMENT, make };
}

/** Float16Array is newer than ES2023: supported where it exists. */
function float16Kind(): ViewKind[] {
  const make = (globalThis as { Float16Array?: ViewConstructor }).Float16Array;
  return make === undefined ? [] : [kind("Float16Array", 84, make)];
}

function gettersOf(prototype: object): { buffer: Getter; byteOffset: Getter; byteLength: Getter } {
  return {
    buffer: getterOf(prototype, "buffer"),
    byteOffset: getterOf(prototype, "byteOffset"),
    byteLength: getterOf(prototype, "byteLength"),
  };
}

function getterOf(prototype: object, name: string | symbol): Getter {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as Getter;
}
