// The jobs that Cloudflare Workflows has, as one writes them with it. An instance is created by its id.
import { WorkflowEntrypoint } from "cloudflare:workers";

const POLL_MS = 10;

export class Steps extends WorkflowEntrypoint {
  async run({ payload: count }, step) {
    for (let index = 0; index < count; index += 1) await step.do(`step-${index}`, async () => index);
    return count;
  }
}

export class Inbox extends WorkflowEntrypoint {
  async run(_event, step) {
    let taken = 0;
    for (;;) {
      await step.waitForEvent(`wait-${taken}`, { type: "work", timeout: "1 hour" });
      taken = await step.do(`take-${taken}`, async () => taken + 1);
    }
  }
}

export class Sleeper extends WorkflowEntrypoint {
  async run({ payload: at }, step) {
    await step.sleepUntil("sleep", new Date(at));
    return step.do("woken", async () => [Date.now() - at]);
  }
}

export class Beating extends WorkflowEntrypoint {
  async run({ payload: url }, step) {
    for (let beat = 0; ; beat += 1) {
      await step.do(`beat-${beat}`, async () => {
        await fetch(url);
        await scheduler.wait(20);
      });
    }
  }
}

const METHODS = {
  /** Creates an instance and waits for its end, by asking. */
  steps: async (env, id, count) => {
    const instance = await env.STEPS.create({ id, params: count });
    for (;;) {
      const { status, error } = await instance.status();
      if (status === "complete") return count;
      if (status === "errored" || status === "terminated") throw new Error(`${status}: ${error?.message}`);
      await scheduler.wait(POLL_MS);
    }
  },
  open: async (env, id) => void (await env.INBOX.create({ id })),
  send: async (env, id, payload) => void (await (await env.INBOX.get(id)).sendEvent({ type: "work", payload })),
  sleepUntil: async (env, id, at) => void (await env.SLEEPER.create({ id, params: at })),
  lateMs: async (env, id) => (await (await env.SLEEPER.get(id)).status()).output ?? [],
  beat: async (env, id, url) => void (await env.BEATING.create({ id, params: url })),
};

/** POST /{method}/{id} with a list of arguments. */
export default {
  async fetch(request, env) {
    const [, method, id] = new URL(request.url).pathname.split("/");
    if (!Object.hasOwn(METHODS, method)) return new Response();
    const { args } = await request.json();
    return Response.json({ output: (await METHODS[method](env, id, ...args)) ?? null });
  },
};
