import { isStandardSchema } from "./standard-schema.js";

/** What a declaration may hold beside being a schema itself: which members are schemas, and its access rule. */
const SHAPES = {
  queues: { schemas: ["message", "complete"], rule: "canPublish" },
  events: { schemas: ["schema"], rule: "canSubscribe" },
} as const;

/** `queues` and `events` of a definition. @throws TypeError that names what is wrong */
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
