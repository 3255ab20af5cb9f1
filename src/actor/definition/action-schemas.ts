import type { StandardSchema } from "../api/declarations.js";
import { isStandardSchema, validate } from "./standard-schema.js";

/** Schemas by the dotted names of their actions. @throws {TypeError} when one is not a schema, or its action does not exist */
export function flattenSchemas(schemas: unknown, actions: ReadonlyMap<string, unknown>): Map<string, StandardSchema> {
  const flat = new Map<string, StandardSchema>();
  const visit = (node: unknown, path: string): void => {
    if (path !== "" && isStandardSchema(node)) {
      if (!actions.has(path)) throw new TypeError(`actor(): actionInputSchemas has "${path}", which is not an action`);
      if (flat.has(path)) throw new TypeError(`actor(): actionInputSchemas has "${path}" twice`);
      flat.set(path, node);
      return;
    }
    if (typeof node !== "object" || node === null || Array.isArray(node)) {
      throw new TypeError(
        path === ""
          ? 'actor(): "actionInputSchemas" must be an object'
          : `actor(): actionInputSchemas: "${path}" must be a Standard Schema, or an object of them`,
      );
    }
    for (const [key, value] of Object.entries(node)) visit(value, path === "" ? key : `${path}.${key}`);
  };
  if (schemas !== undefined) visit(schemas, "");
  return flat;
}

/**
 * Validates arguments and returns the schema's output.
 * @throws {actor/validation_error} with `metadata.issues` when they do not match
 * @throws {TypeError} when the schema's output is not an array
 */
export async function checkArguments(
  schema: StandardSchema,
  name: string,
  args: readonly unknown[],
): Promise<readonly unknown[]> {
  const given = await validate(schema, args, `action \`${name}\` arguments`);
  if (!Array.isArray(given))
    throw new TypeError(`The input schema of action "${name}" must return an array of arguments`);
  return given;
}
