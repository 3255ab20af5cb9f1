import { checkRule, inWorkflow } from "../check-rule.js";

checkRule(
  "no-outer-context",
  {
    "each callback's own context": inWorkflow(
      "await ctx.loop('a', async (loop) => { await loop.step('b', f); await loop.join('c', { d: { run: (x) => x.sleep('e', 1) } }); });",
    ),
    "functions in between": inWorkflow(
      "const pause = (name) => ctx.sleep(name, 1); await pause('a'); [1].map((i) => ctx.step(`b${i}`, f));",
    ),
    "signals and logs of the outer context": inWorkflow(
      "await ctx.step('a', () => { ctx.log.info('x'); return ctx.abortSignal; });",
    ),
    "the same name for the inner one": inWorkflow("await ctx.try('a', async (ctx) => { await ctx.step('b', f); });"),
  },
  {
    "in a step": [inWorkflow("await ctx.step('a', async () => { await ctx.sleep('b', 1); });"), "step"],
    "in an iteration": [inWorkflow("await ctx.loop('a', async (loop) => { await ctx.step('b', f); });"), "other"],
    "in a branch": [inWorkflow("await ctx.join('a', { b: { run: () => ctx.queue.next('c') } });"), "other"],
    "in a try block": [inWorkflow("await ctx.try('a', () => ctx.step('b', f));"), "other"],
    "two callbacks away": [
      inWorkflow("await ctx.loop('a', async (loop) => { await loop.try('b', (block) => loop.step('c', f)); });"),
      "other",
    ],
  },
);
