import { ActorError } from "../../protocol/index.js";
import { isLoopback } from "./page-origin.js";

/** The option's name for all names of this machine. */
const LOOPBACK = "loopback";

/**
 * The host names a server answers to. A page can point its own name at another machine's address (DNS rebinding); its
 * requests then have the server's own origin, and only the name gives them away.
 */
export class HostNames {
  readonly #names: ReadonlySet<string> | undefined;

  /**
   * `hosts`: names without ports, "loopback" for this machine's; undefined: any.
   *
   * @throws TypeError when an entry is not a host name
   */
  constructor(hosts: readonly string[] | undefined) {
    if (hosts === undefined) return;
    if (!Array.isArray(hosts) || hosts.length === 0)
      throw new TypeError('createHandler(): hosts must be an array of host names, or ["loopback"]');
    for (const host of hosts)
      if (!isHostName(host))
        throw new TypeError(
          `createHandler(): hosts has ${JSON.stringify(host)}, which is no host name: no scheme, no port, in lower case`,
        );
    this.#names = new Set(hosts);
  }

  /** @throws {auth/host_not_allowed} when the request's host is not listed */
  check({ hostname }: URL): void {
    if (this.#names === undefined) return;
    if (this.#names.has(hostname) || (this.#names.has(LOOPBACK) && isLoopback(hostname))) return;
    throw new ActorError(
      "auth",
      "host_not_allowed",
      "This server does not answer to this host name. createHandler(registry, { hosts }) lists those it does.",
      {
        metadata: { option: "hosts" },
      },
    );
  }
}

function isHostName(text: unknown): boolean {
  if (typeof text !== "string" || text === "") return false;
  try {
    return new URL(`http://${text}/`).hostname === text;
  } catch {
    return false;
  }
}
