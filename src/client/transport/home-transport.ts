import type { ActorTransport } from "./transport.js";

/** The transport to the actors of this Worker, if it serves any. */
let home: (() => ActorTransport) | undefined;

/** Makes clients without an endpoint call this Worker's actors over its binding; undefined resets that. */
export function setHomeTransport(make: (() => ActorTransport) | undefined): void {
  home = make;
}

/**
 * A transport that is chosen at its first use, since clients are often created before the handler. In a Worker that
 * serves a registry it is the binding, otherwise the result of `elsewhere`.
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
    get codec() {
      return way().codec;
    },
    get pingIntervalMs() {
      return way().pingIntervalMs;
    },
    get place() {
      return way().place;
    },
  };
}
