// `c.env` has the bindings that the project declares, in every context, without an annotation.
import { actor, type ActionContextOf, type CanCreateContext, type WorkflowStepContextOf } from "perdure";
import { workflow } from "perdure/workflow";
import { exactly } from "./exactly.js";

// What `wrangler types` writes, or a user.
declare global {
  namespace Cloudflare {
    interface Env {
      readonly MAIL_KEY: string;
      readonly FILES: R2Bucket;
    }
  }
}

export const mailer = actor({
  canCreate: (c) => exactly<string>()(c.env.MAIL_KEY),
  createState: (c) => {
    exactly<string>()(c.env.MAIL_KEY);
    return { sent: 0 };
  },
  createVars: (c) => ({ key: c.env.MAIL_KEY }),
  createConnState: (c) => exactly<string>()(c.env.MAIL_KEY),
  onWake: (c) => exactly<string>()(c.env.MAIL_KEY),
  onConnect: (c) => exactly<string>()(c.env.MAIL_KEY),
  onRequest: (c) => new Response(c.env.MAIL_KEY),
  onWebSocket: (c) => exactly<Cloudflare.Env>()(c.env),
  run: workflow(
    async (ctx) => {
      exactly<R2Bucket>()(ctx.env.FILES);
      exactly<string>()(await ctx.step("read", (step) => step.env.MAIL_KEY));
      await ctx.loop("l", async (loop) => exactly<string>()(loop.env.MAIL_KEY));
    },
    { onError: (c) => exactly<string>()(c.env.MAIL_KEY) },
  ),
  actions: {
    send: async (c) => {
      exactly<Cloudflare.Env>()(c.env);
      exactly<string>()(c.vars.key);
      exactly<R2ObjectBody | null>()(await c.env.FILES.get("a"));
      // @ts-expect-error no such binding
      void c.env.FILE;
      // @ts-expect-error it cannot be assigned
      c.env = { ...c.env };
    },
  },
});

export const helper = (c: ActionContextOf<typeof mailer>): string => c.env.MAIL_KEY;
export const stepHelper = (step: WorkflowStepContextOf<typeof mailer>): string => step.env.MAIL_KEY;
export const admission = (c: CanCreateContext): string => c.env.MAIL_KEY;
