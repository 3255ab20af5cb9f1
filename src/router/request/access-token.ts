import { ActorError } from "../../protocol/index.js";

/**
 * Requires the deployment's token as `Authorization: Bearer`. Without a configured token every request is refused.
 *
 * @throws {api/unauthorized} when the token is missing or wrong
 */
export function requireToken(headers: Headers, token: string | undefined): void {
  const given = bearerToken(headers);
  if (token === undefined || token === "" || given === undefined || !isSameText(given, token)) {
    throw new ActorError(
      "api",
      "unauthorized",
      "This route needs the token of this deployment as Authorization: Bearer.",
    );
  }
}

/** The token that a request brings as `Authorization: Bearer`. */
export function bearerToken(headers: Headers): string | undefined {
  return /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** Compares in a time that depends only on the lengths. */
export function isSameText(given: string, expected: string): boolean {
  const utf8 = new TextEncoder();
  const [a, b] = [utf8.encode(given), utf8.encode(expected)];
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i % b.length] ?? 0);
  return difference === 0;
}
