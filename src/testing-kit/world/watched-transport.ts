import type { ActorTransport } from "../../client/in-process.js";

/** Makes a call; `what` names it for people. */
export type WatchCall = <T>(what: string, call: () => Promise<T>) => Promise<T>;

type Target = Parameters<ActorTransport["resolve"]>[0]["target"];

/** The same transport; `watch` makes each of its calls. */
export function watchedTransport(transport: ActorTransport, watch: WatchCall): ActorTransport {
  return {
    action: (call) =>
      watch(`action ${JSON.stringify(call.name)} of ${nameOf(call.target)}`, () => transport.action(call)),
    send: (call) => watch(`a send to ${nameOf(call.target)}`, () => transport.send(call)),
    resolve: (call) => watch(`a look-up of ${nameOf(call.target)}`, () => transport.resolve(call)),
    create: (call) => watch(`the creation of ${nameOf({ ...call, mode: "get" })}`, () => transport.create(call)),
    gatewayUrl: (call) => watch(`a look-up of ${nameOf(call.target)}`, () => transport.gatewayUrl(call)),
    fetch: (call) => watch(`a request to ${nameOf(call.target)}`, () => transport.fetch(call)),
    openSocket: (call) => watch(`a connection to ${nameOf(call.target)}`, () => transport.openSocket(call)),
    codec: transport.codec,
    pingIntervalMs: transport.pingIntervalMs,
    place: transport.place,
  };
}

function nameOf(target: Target): string {
  return "actorId" in target ? target.actorId : `${target.name} ${JSON.stringify(target.key)}`;
}
