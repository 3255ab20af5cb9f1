import { checkRule, inWorkflow } from "../check-rule.js";

checkRule(
  "no-repeated-name",
  {
    "one of two ways": inWorkflow("if (x) await ctx.step('a', f); else await ctx.step('a', g);"),
    "one of two ways, by an early return": inWorkflow(
      "if (x) { await ctx.step('a', f); return; } await ctx.step('a', g);",
    ),
    cases: inWorkflow("switch (x) { case 1: await ctx.step('a', f); break; case 2: await ctx.step('a', g); }"),
    "one that may not have been reached": inWorkflow("x && (await ctx.step('a', f)); await ctx.step('a', g);"),
    "other scopes": inWorkflow("await ctx.step('a', f); await ctx.loop('b', async (l) => { await l.step('a', f); });"),
    "waits for messages": inWorkflow(
      "await ctx.queue.next('a'); await ctx.queue.next('a'); while (x) await ctx.queue.next('a');",
    ),
    "names that differ by round": inWorkflow("for (const i of [1, 2]) await ctx.step(`a${i}`, f);"),
    "durable loops": inWorkflow(
      "await ctx.loop('a', async (loop) => { await loop.step('b', f); await loop.sleep('c', 1); });",
    ),
    "what a loop begins with": inWorkflow("for (const i of await ctx.step('a', f)) use(i);"),
  },
  {
    twice: [inWorkflow("await ctx.step('a', f); await ctx.sleep('a', 1);"), "twice"],
    "twice, by options": [
      inWorkflow("await ctx.step({ name: 'a', run: f }); if (x) { await ctx.tryStep(`a`, f); }"),
      "twice",
    ],
    "a loop of the language": [inWorkflow("for (const i of [1, 2]) { await ctx.step('a', () => f(i)); }"), "loop"],
    while: [inWorkflow("while (x) await ctx.sleep('a', 1);"), "loop"],
    map: [inWorkflow("await Promise.all([1, 2].map(async (i) => { await ctx.step('a', f); }));"), "loop"],
    "a loop of the language in an iteration": [
      inWorkflow("await ctx.loop('a', async (loop) => { do { await loop.step('b', f); } while (x); });"),
      "loop",
    ],
  },
);
