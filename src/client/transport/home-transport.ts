import type { ActorTransport } from "./transport.js";

/** The way to the actors of the Worker in which this runs, if it serves some. */
let home: (() => ActorTransport) | undefined;

/** From now on clients without an endpoint reach the actors of this Worker, over its binding; undefined: no more. */
export function setHomeTransport(make: (() => ActorTransport) | undefined): void {
  home = make;
}

/**
 * A transport that is chosen at its first use: clients are often made before what serves the actors. In a Worker that serves
 * a registry it is the binding, else what `elsewhere` makes.
 */
export function homeOr(elsewhere: () => ActorTransport): ActorTransport {
  let chosen: ActorTransport | undefined;
  const way = (): ActorTransport => (chosen ??= (home ?? elsewhere)());
  return {
    action: async (call) => way().action(call),
    send: async (call) => way().send(call),
    resolve: async (call) => way().resolve(call),
    create: async (call) => way().create(call),
    gatewayUrl: async (call) => way().gatewayUrl(call),
    fetch: async (call) => way().fetch(call),
    openSocket: async (call) => way().openSocket(call),
    get encoding() {
      return way().encoding;
    },
    get pingIntervalMs() {
      return way().pingIntervalMs;
    },
    get place() {
      return way().place;
    },
  };
}
