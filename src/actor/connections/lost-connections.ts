import type { ActorActivation } from "../activation/activation.js";
import type { Connection } from "../activation/connection.js";

/** So often starts that follow a cut-off call `onDisconnect` for one lost connection; then it is given up. */
const MAX_TRIES = 5;

/**
 * Connections whose rows are there and whose sockets are not: they ended with an earlier activation, and nobody has been
 * told. Nothing of it may keep the actor from serving: where the last activation was cut off, each call of the hook is
 * counted before it is made, and those come last that were begun most often.
 */
export class LostConnections {
  readonly #activation: ActorActivation;
  readonly #lost = new Map<string, Connection>();

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  add(connection: Connection): void {
    connection.isStored = true;
    this.#lost.set(connection.id, connection);
  }

  /** The one with this id, which is then nobody's concern here any more. */
  take(id: string | undefined): Connection | undefined {
    const lost = this.#lost.get(id ?? "");
    if (lost) this.#lost.delete(lost.id);
    return lost;
  }

  /** Those that are to be told before the actor is deleted, each counted: a hook that kills the object then ends no destroy. */
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

  /** Calls `left` for each, once the actor serves. A close that is on its way, and did not come first, has its turn before. */
  tell(
    left: (connection: Connection) => Promise<void>,
    store: (connection: Connection) => void,
    forget: (connection: Connection) => void,
  ): void {
    const { background, ports, lease } = this.#activation;
    const lost = [...this.#lost.values()].toSorted((a, b) => a.tries - b.tries);
    if (lost.length === 0) return;
    const tell = async (each: Connection): Promise<void> => {
      if (this.take(each.id)) await left(each);
    };
    const begun = async (): Promise<void> => {
      await ports.yield();
      // Code that kills the object now must not take the lease along, by which the next start knows of it.
      await this.#activation.confirmed();
    };
    if ((lease?.found ?? 0) === 0) {
      for (const each of lost) background.run("onDisconnect", () => begun().then(() => tell(each)));
      return;
    }
    background.run("onDisconnect", async () => {
      await begun();
      for (const each of lost) {
        if (each.tries >= MAX_TRIES) {
          if (!this.take(each.id)) continue;
          ports.log.error({
            msg: `onDisconnect was cut off ${MAX_TRIES} times by a crash or reset of its object; it is given up`,
            connection: each.id,
          });
          forget(each);
        } else {
          each.tries += 1;
          store(each);
          this.#activation.commitOrThrow();
          await this.#activation.confirmed();
          await tell(each);
        }
      }
    });
  }
}
