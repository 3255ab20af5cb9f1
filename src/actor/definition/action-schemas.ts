import type { StandardSchema } from "../api/declarations.js";
import { isStandardSchema, validate } from "./standard-schema.js";

/** Schemas by the flat names of their actions. @throws TypeError for what is no schema, or stands at no action */
export function flattenSchemas(schemas: unknown, actions: ReadonlyMap<string, unknown>): Map<string, StandardSchema> {
  const flat = new Map<string, StandardSchema>();
  const visit = (node: unknown, path: string): void => {
    if (path !== "" && isStandardSchema(node)) {
      if (!actions.has(path)) throw new TypeError(`actor(): actionInputSchemas has "${path}", which is no action`);
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

/** The arguments as the schema gives them. @throws actor/validation_error with `metadata.issues`; TypeError if it gives no list */
export async function checkArguments(
  schema: StandardSchema,
  name: string,
  args: readonly unknown[],
): Promise<readonly unknown[]> {
  const given = await validate(schema, args, `action \`${name}\` arguments`);
  if (!Array.isArray(given)) throw new TypeError(`The input schema of action "${name}" must give a list of arguments`);
  return given;
}
