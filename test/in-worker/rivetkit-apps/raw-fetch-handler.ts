import { actor, type RequestContext } from "rivetkit";

interface State {
  count: number;
}

const routes: Record<
  string,
  (c: RequestContext<State, any, any, any, any, any>, request: Request) => Response | Promise<Response>
> = {
  "GET /count": (c) => Response.json({ count: c.state.count }),
  "POST /increment": async (c, request) => {
    c.state.count += Number(await request.text());
    return Response.json({ count: c.state.count });
  },
};

export const rawCounter = actor({
  state: { count: 0 } as State,
  onRequest: (c, request) => {
    const route = routes[`${request.method} ${new URL(request.url).pathname}`];
    return route ? route(c, request) : new Response("Not Found", { status: 404 });
  },
  actions: { getCount: (c) => c.state.count },
});
