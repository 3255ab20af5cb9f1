import { checkRule, inWorkflow } from "../check-rule.js";

checkRule(
  "no-unawaited-operation",
  {
    "awaited, returned, or kept": inWorkflow(
      "await ctx.step('a', f); const b = ctx.step('b', f); await b; await ctx.try('c', (block) => " +
        "block.step('d', f)); return ctx.sleep('e', 1);",
    ),
    "what is no operation": inWorkflow("ctx.log.info('a'); other.step('b', f);"),
    "a join": inWorkflow(
      "await ctx.join('a', { b: { run: (b) => b.step('c', f) }, d: { run: (d) => d.step('e', f) } });",
    ),
    "one among other promises": inWorkflow("await Promise.all([ctx.step('a', f), other()]);"),
    "several of several contexts": inWorkflow("await Promise.all([1].map((i) => f(i)));"),
  },
  {
    "a statement": [
      inWorkflow("ctx.step('a', f); void ctx.sleep('b', 1); ctx.queue.next('c');"),
      "alone",
      "alone",
      "alone",
    ],
    forEach: [inWorkflow("[1, 2].forEach((i) => ctx.step(`a${i}`, f));"), "alone"],
    together: [inWorkflow("await Promise.all([ctx.step('a', f), ctx.step('b', f)]);"), "together"],
    "together, by map": [inWorkflow("await Promise.race([1, 2].map((i) => ctx.step(`a${i}`, f)));"), "together"],
  },
);
