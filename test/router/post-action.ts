import { createRouter, type ActorNamespace, type RouterOptions } from "../../src/router/index.js";

export const ORIGIN = "http://localhost:6420";
const GET_OR_CREATE = "rvt-namespace=default&rvt-method=getOrCreate";

export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** A router over these objects, without real waiting. Its answers must be ours. */
export function routerOver(objects: ActorNamespace, options: Partial<RouterOptions> = {}): Send {
  const router = createRouter({
    actorNames: ["counter", "chat"],
    sleep: async () => {},
    random: () => 0,
    newErrorId: () => "error-1",
    ...options,
  });
  return async (path, init) => {
    const response = await router(new Request(ORIGIN + path, init), objects);
    if (response === undefined) throw new Error(`The router left ${path} alone.`);
    return response;
  };
}

/** Posts an action with getOrCreate and the key "a". */
export function postAction(send: Send, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return send(`/gateway/counter/action/add?${GET_OR_CREATE}&rvt-key=a`, { method: "POST", body, headers });
}
