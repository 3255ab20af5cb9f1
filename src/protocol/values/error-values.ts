import { fieldOf, own, ownField } from "../own.js";
import { ActorError, UserError, type ErrorActor } from "../errors/errors.js";

/** The parts of an error that are encoded: the class to rebuild it as, its message and properties. The stack is dropped. */
export interface ErrorParts {
  readonly className: string;
  readonly message: string;
  /** `name` (if not the class's), `code`, `metadata`, `cause`, `errors`, and an ActorError's own fields. */
  readonly properties: Readonly<Record<string, unknown>>;
}

type ErrorMaker = new (message?: string) => Error;

const STANDARD = new Map<string, ErrorMaker>(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((make) => [make.name, make]),
);

/** Takes an error apart. A getter among its properties may throw. */
export function errorParts(error: Error): ErrorParts {
  const name = String(error.name);
  const message = String(error.message);
  const fields = {
    code: fieldOf(error, "code"),
    metadata: fieldOf(error, "metadata"),
    errors: fieldOf(error, "errors"),
  };
  const kept = Object.create(null) as Record<string, unknown>;
  if (fields.code !== undefined) kept["code"] = fields.code;
  if (fields.metadata !== undefined) kept["metadata"] = fields.metadata;
  if (Object.hasOwn(error, "cause")) kept["cause"] = error.cause;
  if (ActorError.isActorError(error)) {
    Object.assign(kept, { group: error.group, public: error.public, statusCode: error.statusCode });
    const actor = ownField(error, "actor");
    if (actor !== undefined) kept["actor"] = actor;
    if (name !== "ActorError") kept["name"] = name;
    return { className: "ActorError", message, properties: kept };
  }
  if (name === "AggregateError" && Array.isArray(fields.errors)) {
    kept["errors"] = fields.errors;
    return { className: name, message, properties: kept };
  }
  if (STANDARD.has(name)) return { className: name, message, properties: kept };
  kept["name"] = name;
  return { className: "Error", message, properties: kept };
}

/** Rebuilds an error. The name of an unknown class becomes the error's name (cbor-x sends any). */
export function errorOfParts({ className, message, properties: kept }: ErrorParts): Error {
  const properties = Object.getPrototypeOf(kept) === null ? kept : own(kept);
  const error = makeError(className, message, properties);
  const name = typeof properties["name"] === "string" ? properties["name"] : className;
  if (error.name !== name) hide(error, "name", name);
  for (const property of ["code", "metadata"] as const) {
    if (Object.hasOwn(properties, property)) Object.assign(error, { [property]: properties[property] });
  }
  if (Object.hasOwn(properties, "cause")) hide(error, "cause", properties["cause"]);
  hide(error, "stack", `${error.name}: ${message}`);
  return error;
}

function makeError(className: string, message: string, properties: Readonly<Record<string, unknown>>): Error {
  const { group, code, metadata, errors, name } = properties;
  if (className === "ActorError" && typeof group === "string" && typeof code === "string") {
    if (name === "UserError" && group === "user") return new UserError(message, { code, metadata });
    return new ActorError(group, code, message, {
      metadata,
      ...(typeof properties["public"] === "boolean" ? { public: properties["public"] } : {}),
      ...(typeof properties["statusCode"] === "number" ? { statusCode: properties["statusCode"] } : {}),
      ...(isErrorActor(properties["actor"]) ? { actor: properties["actor"] } : {}),
    });
  }
  if (className === "AggregateError" && Array.isArray(errors)) return new AggregateError(errors, message);
  return new (STANDARD.get(className) ?? Error)(message);
}

function isErrorActor(actor: unknown): actor is ErrorActor {
  if (typeof actor !== "object" || actor === null) return false;
  const { actorId, generation } = own<Partial<Record<keyof ErrorActor, unknown>>>(actor);
  return typeof actorId === "string" && typeof generation === "number";
}

function hide(target: object, property: string, value: unknown): void {
  Object.defineProperty(target, property, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  } as PropertyDescriptor);
}
