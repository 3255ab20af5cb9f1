import { actor, setup, UserError } from "perdure";
import type { Authorize } from "perdure/cloudflare";
import { unauthorizedError } from "perdure/errors";

export interface Opening {
  readonly title: string;
}

/** A diary of one member, whose name is its key. */
export const diary = actor({
  createState: (_c, opening?: Opening) => ({ title: opening?.title ?? "", entries: [] as string[] }),
  // Asked before anything of a new diary exists: what is refused here has left nothing.
  canCreate: (_c, opening?: Opening) => {
    if (typeof opening?.title !== "string" || opening.title === "")
      throw new UserError("A diary has a title", { code: "no_title" });
    return true;
  },
  actions: {
    write: (c, entry: string) => c.state.entries.push(entry),
    read: (c) => c.state,
  },
});

/**
 * Asked in the Worker for each call, message and connection from outside, before any actor hears of it: a member reaches the
 * diary of that name and no other. The other examples are open to everybody.
 */
export const authorize: Authorize = async (_request, { token, ...target }) => {
  // By id, nobody knows yet whose it is. To ask starts no actor.
  const asked = "key" in target ? target : await target.resolve();
  if (asked?.actor !== "diary") return true;
  const member = await memberOf(token);
  if (member === undefined) throw unauthorizedError("Sign in first"); // 401
  return asked.key[0] === member; // 403
};

// ---- signing in: yours asks for a password, and has its secret from `wrangler secret put` ----------------------------------

const SECRET = "no secret at all: it is an example";
const utf8 = new TextEncoder();

/** `name.signature` */
export async function signIn(name: string): Promise<string> {
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(), utf8.encode(name)));
  return `${name}.${[...signature].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

async function memberOf(token = ""): Promise<string | undefined> {
  const [, name = "", hex = ""] = /^(.+)\.([0-9a-f]{64})$/.exec(token) ?? [];
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  return (await crypto.subtle.verify("HMAC", await hmacKey(), signature, utf8.encode(name))) ? name : undefined;
}

function hmacKey(): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", utf8.encode(SECRET), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
}

export const registry = setup({ use: { diary } });
