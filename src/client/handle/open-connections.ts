import { own } from "../../protocol/page.js";
import type { ClientEffects } from "../../actor/index.js";
import type { Connection } from "../connection/connection.js";
import { REAL_PORTS, type ConnectionPorts } from "../connection/connection-ports.js";

/** Makes a call over a connection; `what` names it for people. */
type CallOver = (what: string, call: () => Promise<unknown>) => Promise<unknown>;

export interface ClientOptions {
  readonly ports?: ConnectionPorts;
  /** When one of them fires, all connections end, and so does any that is opened later. */
  readonly ends?: readonly AbortSignal[];
  /** Makes each call over a connection. */
  readonly callOver?: CallOver;
  /** Runs each send and call that handles begin. */
  readonly effects?: ClientEffects | undefined;
}

const UNSEEN: CallOver = (_, call) => call();
const UNTOLD: ClientEffects = { send: (work) => work(), call: (_, work) => work() };

/** The undisposed connections of one client. It listens to the signals that end them only while there are any. */
export class OpenConnections {
  readonly ports: ConnectionPorts;
  readonly effects: ClientEffects;
  readonly callOver: CallOver;
  readonly #ends: readonly AbortSignal[];
  readonly #all = new Set<Connection>();
  readonly #disposeAll = (): void => this.disposeAll();

  constructor(options: ClientOptions) {
    const { ports = REAL_PORTS, ends = [], effects = UNTOLD, callOver = UNSEEN } = own(options);
    this.effects = effects;
    this.callOver = callOver;
    this.ports = ports;
    this.#ends = ends;
  }

  add(connection: Connection): void {
    if (this.#all.size === 0) for (const end of this.#ends) end.addEventListener("abort", this.#disposeAll);
    this.#all.add(connection);
    if (this.#ends.some(({ aborted }) => aborted)) connection.dispose();
  }

  delete(connection: Connection): void {
    this.#all.delete(connection);
    if (this.#all.size === 0) for (const end of this.#ends) end.removeEventListener("abort", this.#disposeAll);
  }

  disposeAll(): void {
    for (const connection of this.#all) connection.dispose();
  }
}
