const ONE_LINE = 72;

/** JSON to read and edit: what is short stands on one line, so that a tagged pair does. */
export function prettyJson(tree: unknown, indent = ""): string {
  const flat = JSON.stringify(tree);
  if (typeof tree !== "object" || tree === null) return flat;
  const deeper = `${indent}  `;
  const isList = Array.isArray(tree);
  const items = isList
    ? tree.map((item) => prettyJson(item, deeper))
    : Object.entries(tree).map(([key, item]) => `${JSON.stringify(key)}: ${prettyJson(item, deeper)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return open + close;
  const isShort = indent !== "" && flat.length + indent.length <= ONE_LINE;
  if (isShort) return isList ? `[${items.join(", ")}]` : `{ ${items.join(", ")} }`;
  return `${open}\n${items.map((item) => deeper + item).join(",\n")}\n${indent}${close}`;
}
