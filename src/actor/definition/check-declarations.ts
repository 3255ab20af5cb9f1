import { isStandardSchema } from "./standard-schema.js";

/** The members of a declaration that is not itself a schema: schemas, and an access rule. */
const SHAPES = {
  queues: { schemas: ["message", "complete"], rule: "canPublish" },
  events: { schemas: ["schema"], rule: "canSubscribe" },
} as const;

/** Checks `queues` or `events` of a definition. @throws {TypeError} when a declaration is invalid */
export function checkDeclarations(kind: keyof typeof SHAPES, declared: unknown): void {
  if (declared === undefined) return;
  if (typeof declared !== "object" || declared === null || Array.isArray(declared))
    throw new TypeError(`actor(): "${kind}" must be an object of declarations by name`);
  for (const [name, declaration] of Object.entries(declared)) checkDeclaration(kind, name, declaration);
}

function checkDeclaration(kind: keyof typeof SHAPES, name: string, declaration: unknown): void {
  if (isStandardSchema(declaration)) return;
  const { schemas, rule } = SHAPES[kind];
  const what = `actor(): ${kind}.${name}`;
  if (typeof declaration !== "object" || declaration === null || Array.isArray(declaration)) {
    throw new TypeError(
      `${what} must be ${kind === "queues" ? "queue<Message, Reply>()" : "event<Payload>()"}, a Standard ` +
        `Schema, or an object of ${[...schemas, rule].join(", ")}`,
    );
  }
  for (const [key, value] of Object.entries(declaration)) {
    if (value === undefined) continue;
    if ((schemas as readonly string[]).includes(key)) {
      if (!isStandardSchema(value)) throw new TypeError(`${what}: "${key}" must be a Standard Schema`);
    } else if (key !== rule) throw new TypeError(`${what}: unknown key "${key}"`);
    else if (typeof value !== "function") throw new TypeError(`${what}: "${key}" must be a function`);
  }
}
