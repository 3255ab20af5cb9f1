import { ActorError } from "../errors/errors.js";
import { utf8Length } from "../utf8-length.js";
import { isWellFormed } from "../well-formed.js";

/** The parts of an actor's key. An empty key is valid. */
export type ActorKey = readonly string[];

/** UTF-8 bytes of an actor's name. */
export const MAX_ACTOR_NAME_BYTES = 64;
/** UTF-8 bytes of one part of a key. */
export const MAX_KEY_PART_BYTES = 128;
/** UTF-8 bytes of a whole key, counting one separator between parts. */
export const MAX_KEY_BYTES = 1024;

/**
 * Normalizes a key as users write it (nothing, a string or an array) to an array.
 *
 * @throws {actor/invalid_key} when it is anything else, or has a lone surrogate, which URLs cannot carry
 */
export function normalizeKey(key: string | readonly string[] | undefined): string[] {
  if (key === undefined) return [];
  if (typeof key === "string") return normalizeKey([key]);
  if (!Array.isArray(key)) throw invalidKey("it must be a string or an array of strings");
  return key.map((part: unknown, index) => {
    if (typeof part !== "string") throw invalidKey(`part ${index} of the key is not a string`);
    if (!isWellFormed(part)) throw invalidKey(`part ${index} of the key has a lone surrogate`);
    return part;
  });
}

/** @throws {actor/invalid_name} unless `name` is a well-formed string of 1 to 64 UTF-8 bytes */
export function checkActorName(name: string): void {
  const isLegal = typeof name === "string" && name !== "" && isWellFormed(name);
  if (!isLegal || utf8Length(name) > MAX_ACTOR_NAME_BYTES) {
    throw new ActorError(
      "actor",
      "invalid_name",
      `An actor's name must be a well-formed string of 1 to ${MAX_ACTOR_NAME_BYTES} bytes`,
    );
  }
}

/**
 * @throws {actor/invalid_key} when a part is not a well-formed string
 * @throws {actor/key_too_large} when a part or the key exceeds its limit
 */
export function checkKey(key: ActorKey): void {
  if (!Array.isArray(key)) throw invalidKey("it must be an array of strings");
  let total = Math.max(0, key.length - 1);
  for (const [index, part] of key.entries()) {
    if (typeof part !== "string") throw invalidKey(`part ${index} of the key is not a string`);
    if (!isWellFormed(part)) throw invalidKey(`part ${index} of the key has a lone surrogate`);
    const size = utf8Length(part);
    if (size > MAX_KEY_PART_BYTES) throw keyTooLarge(`Part ${index} of the key`, size, MAX_KEY_PART_BYTES);
    total += size;
  }
  if (total > MAX_KEY_BYTES) throw keyTooLarge("The key", total, MAX_KEY_BYTES);
}

/** The name of an actor's Durable Object. Two different actors never share one. */
export function objectName(name: string, key: ActorKey): string {
  return JSON.stringify([name, ...key]);
}

/** The actor that an object's name belongs to; `undefined` for a string that `objectName` did not make. */
export function parseObjectName(text: string): { name: string; key: string[] } | undefined {
  const parts = parseStringArray(text);
  const [name, ...key] = parts ?? [];
  return name === undefined || objectName(name, key) !== text ? undefined : { name, key };
}

/** Formats `rvt-key`: the parts joined by commas, not escaped. Ambiguous; kept for RivetKit's clients. */
export function formatLegacyKey(key: ActorKey): string {
  return key.join(",");
}

/** Parses `rvt-key`. The empty string is the empty key. */
export function parseLegacyKey(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

/** Formats `rvt-key-json`, our own client's form: a JSON array. The caller percent-encodes it for a URL. */
export function formatJsonKey(key: ActorKey): string {
  return JSON.stringify(key);
}

/**
 * Parses `rvt-key-json`.
 *
 * @throws {guard/query_invalid_params} unless it is a JSON array of strings
 */
export function parseJsonKey(text: string): string[] {
  const parts = parseStringArray(text);
  if (parts === undefined) throw invalidParams("rvt-key-json must be a JSON array of strings");
  return parts;
}

/** Formats a key for the REST interface: parts joined by "/", which is escaped within a part. */
export function formatRestKey(key: ActorKey): string {
  if (key.length === 0) return "/";
  return key.map((part) => (part === "" ? "\\0" : part.replace(/[\\/]/g, "\\$&"))).join("/");
}

/**
 * Parses a key of the REST interface; "" and "/" are the empty key.
 *
 * @throws {guard/query_invalid_params} when it has an invalid escape
 */
export function parseRestKey(text: string): string[] {
  if (text === "" || text === "/") return [];
  const parts: string[] = [];
  let part = "";
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === "/") {
      parts.push(part);
      part = "";
    } else if (character !== "\\") {
      part += character;
    } else {
      const escaped = text.charAt(++i);
      const isWholePart = part === "" && (i + 1 === text.length || text.charAt(i + 1) === "/");
      if (escaped === "\\" || escaped === "/") part += escaped;
      else if (escaped !== "0" || !isWholePart)
        throw invalidParams("The key has an escape other than \\\\, \\/ and \\0");
    }
  }
  return [...parts, part];
}

function parseStringArray(text: string): string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) && value.every((part) => typeof part === "string") ? value : undefined;
}

function invalidKey(reason: string): ActorError {
  return new ActorError("actor", "invalid_key", `Invalid actor key: ${reason}`);
}

function keyTooLarge(what: string, sizeBytes: number, limitBytes: number): ActorError {
  const message = `${what} has ${sizeBytes} bytes; the limit is ${limitBytes}`;
  return new ActorError("actor", "key_too_large", message, { metadata: { sizeBytes, limitBytes } });
}

function invalidParams(message: string): ActorError {
  return new ActorError("guard", "query_invalid_params", message);
}
