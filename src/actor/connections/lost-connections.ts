import type { ActorActivation } from "../activation/activation.js";
import type { Connection } from "../activation/connection.js";

/** What lost connections need from their actor. */
type LostConnectionsHost = Pick<ActorActivation, "background" | "commitOrThrow" | "confirmed" | "lease" | "ports">;

/** How often `onDisconnect` is tried for one lost connection after crashes. */
const MAX_TRIES = 5;

/**
 * Connections with a row but no socket: they ended with an earlier activation, before `onDisconnect` could run (CONN-4).
 *
 * A hook that crashes the object must not keep the actor from serving. So after a crash the hooks run one at a time, each
 * call is counted on disk before it is made, and the connections with the most tries come last.
 */
export class LostConnections {
  readonly #activation: LostConnectionsHost;
  readonly #lost = new Map<string, Connection>();

  constructor(activation: LostConnectionsHost) {
    this.#activation = activation;
  }

  add(connection: Connection): void {
    connection.isStored = true;
    this.#lost.set(connection.id, connection);
  }

  /** Removes and returns the lost connection with this id. */
  take(id: string | undefined): Connection | undefined {
    const lost = this.#lost.get(id ?? "");
    if (lost) this.#lost.delete(lost.id);
    return lost;
  }

  /** Removes and returns all, before the actor is deleted. Counts a try for each, so a hook that crashes cannot block the destroy. */
  async takeAll(store: (connection: Connection) => void): Promise<Connection[]> {
    const all = [...this.#lost.values()].filter(({ tries }) => tries < MAX_TRIES);
    this.#lost.clear();
    if (all.length === 0) return [];
    for (const each of all) {
      each.tries += 1;
      store(each);
    }
    this.#activation.commitOrThrow();
    await this.#activation.confirmed();
    return all;
  }

  /** Calls `left` for each, once the actor serves. A close event that is already on its way comes first. */
  callHooks(
    left: (connection: Connection) => Promise<void>,
    store: (connection: Connection) => void,
    forget: (connection: Connection) => void,
  ): void {
    const { background, ports, lease } = this.#activation;
    const lost = [...this.#lost.values()].toSorted((a, b) => a.tries - b.tries);
    if (lost.length === 0) return;
    const callHook = async (each: Connection): Promise<void> => {
      if (this.take(each.id)) await left(each);
    };
    const started = async (): Promise<void> => {
      await ports.yield();
      // The lease must be on disk before the hook: it shows the next start that this activation crashed.
      await this.#activation.confirmed();
    };
    if ((lease?.found ?? 0) === 0) {
      for (const each of lost) background.run("onDisconnect", () => started().then(() => callHook(each)));
      return;
    }
    background.run("onDisconnect", async () => {
      await started();
      for (const each of lost) {
        if (each.tries >= MAX_TRIES) {
          if (!this.take(each.id)) continue;
          ports.log.error({
            msg: `onDisconnect was interrupted ${MAX_TRIES} times by a crash or reset of its object and is given up`,
            connection: each.id,
          });
          forget(each);
        } else {
          each.tries += 1;
          store(each);
          this.#activation.commitOrThrow();
          await this.#activation.confirmed();
          await callHook(each);
        }
      }
    });
  }
}
