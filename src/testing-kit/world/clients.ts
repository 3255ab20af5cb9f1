import type { ActorDefinitions, Client, Registry } from "../../actor/index.js";
import { createHttpTransport, resolveConfig } from "../../client/in-process.js";
import { isEncoding, readOptions, type Encoding } from "../../protocol/index.js";
import { clientSocketClass } from "./client-sockets.js";
import type { WorldHost } from "./world-host.js";

/** Options of `world.createClient()`. */
export interface WorldClientOptions {
  /** Default: that of the world. */
  readonly encoding?: Encoding;
  /** A token for `authorize`. */
  readonly token?: string;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Clients<D extends ActorDefinitions> {
  /**
   * The typed client of `perdure/client`, without a network in between.
   *
   * @example
   *     await world.client.counter.getOrCreate("main").increment(1);
   */
  readonly client: Client<Registry<D>>;
  /**
   * Another client of the same actors.
   *
   * @example
   *     const page = world.createClient({ encoding: "json", token: "t-ada" });
   * @throws TypeError when an option is unknown or not valid
   */
  createClient(options?: WorldClientOptions): Client<Registry<D>>;
}

/** No such host is asked: its requests are answered here. */
const ENDPOINT = "http://perdure.test";
const NAMES = ["encoding", "token", "headers"] as const;

export function clientsOf(host: WorldHost): Clients<ActorDefinitions> {
  const createClient = (given?: WorldClientOptions): Client<Registry<ActorDefinitions>> => {
    host.checkOpen("createClient");
    const fail = (problem: string): TypeError => new TypeError(`world.createClient(): ${problem}`);
    const { encoding = host.options.encoding, ...options } = readOptions<WorldClientOptions>(
      "createClient",
      given,
      NAMES,
      fail,
    );
    if (!isEncoding(encoding)) throw fail("encoding must be json, cbor or bare");
    const config = resolveConfig({
      ...options,
      endpoint: ENDPOINT,
      encoding,
      pingInterval: false,
      fetch: (url, init) => host.answer(new Request(url, init)),
      webSocket: clientSocketClass((upgrade) => host.opening(upgrade)),
    });
    const transport = createHttpTransport(config, host.time, host.codecs[encoding]);
    return host.clientOutside(transport) as Client<Registry<ActorDefinitions>>;
  };
  return { client: createClient(), createClient };
}
