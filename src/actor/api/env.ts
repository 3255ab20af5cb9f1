declare global {
  namespace Cloudflare {
    /**
     * The Worker's bindings, variables and secrets, by name. `wrangler types` declares them, and so can you. This merges
     * with both, and with the platform's own types where they are installed.
     */
    interface Env {}
  }
}

/** What `c.env` is. */
export type Env = Cloudflare.Env;
