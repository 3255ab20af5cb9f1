import { checkRule, inWorkflow } from "../check-rule.js";

checkRule(
  "no-outer-assignment",
  {
    "a variable of the callback itself": inWorkflow(
      "await ctx.step('a', () => { let n = 0; for (const i of [1]) n += i; [2].forEach((i) => { n += i; }); return n; });",
    ),
    "the state of a step": inWorkflow(
      "await ctx.step('a', (step) => { step.state.n = 1; step.state.list.push(1); step.vars.x.y += 1; });",
    ),
    "the state, destructured": inWorkflow("await ctx.step('a', ({ state }) => { state.n += 1; state.list.push(1); });"),
    "a misused context, which fails by itself": inWorkflow("await ctx.step('a', () => { ctx.state.n = 1; });"),
    "workflow code itself, which a replay runs again": inWorkflow(
      "let n = await ctx.step('a', () => 1); n += 1; const list = []; for (const i of [1]) list.push(i);",
    ),
    "a try block, which a replay runs again": inWorkflow(
      "let n = 0; await ctx.try('a', async (block) => { n = await block.step('b', () => 1); });",
    ),
    "the state of an iteration within it": inWorkflow(
      "await ctx.loop({ name: 'a', state: { n: 0 }, run: (loop, state) => { state.n += 1; return Loop.continue(state); } });",
    ),
    "reading outer variables": inWorkflow("let n = 3; n += 1; await ctx.step('a', (step) => { step.state.n = n; });"),
    "methods of other objects with the name of one that changes a list": inWorkflow(
      "const router = makeRouter(); await ctx.step('a', () => { router.push('/'); router.delete('x'); });",
    ),
    "a cache of the module that steps share":
      "import { workflow } from 'perdure/workflow'; let client; export default workflow(async (ctx) => { await ctx.step('a', " +
      "() => { client ??= connect(); return client.get(); }); });",
    "what a test counts":
      "import { workflow } from 'perdure/workflow'; let runs = 0; const run = workflow(async (ctx) => { await ctx.step('a', " +
      "() => { runs += 1; }); }); test('x', () => expect(runs).toBe(1));",
    "a function of the same name from elsewhere":
      "import { workflow } from './my-workflow'; workflow(async (ctx) => { let n; await ctx.step('a', () => { n = 1; }); });",
    "a step of something else": inWorkflow("let n = 0; await wizard.step('a', () => { n = 1; }); use(n);"),
    "a context that is not a workflow's":
      "function walk(ctx) { let n = 0; ctx.step('a', () => { n = 1; }); return n; }",
  },
  {
    "a step": [inWorkflow("let total = 0; await ctx.step('a', () => { total = 33; }); use(total);"), "step"],
    "each way to write": [
      inWorkflow(
        "let a, b, c, d, e; await ctx.step('a', () => { a++; b += 1; [c] = [1]; ({ x: d } = { x: 1 }); for (e of [1]); });",
      ),
      "step",
      "step",
      "step",
      "step",
      "step",
    ],
    "a property, also one that is deleted": [
      inWorkflow("const o = await load(); await ctx.step('a', () => { o.paid = true; o.lines[0].n++; delete o.x; });"),
      "step",
      "step",
      "step",
    ],
    "a list, a map, a set": [
      inWorkflow(
        "const l = [], m = new Map(), s = new Set(); await ctx.step('a', () => { l.push(1); m.set(1, 2); s.add(1); });",
      ),
      "step",
      "step",
      "step",
    ],
    "an iteration": [inWorkflow("let n = 0; await ctx.loop('a', async (loop) => { n += 1; });"), "iteration"],
    "the state of an iteration, in one of its steps": [
      inWorkflow(
        "await ctx.loop({ name: 'a', state: {}, run: async (loop, s) => { await loop.step('b', () => { s.n = 1; }); } });",
      ),
      "step",
    ],
    "a branch of a join": [
      inWorkflow("let n; await ctx.join('a', { b: { run: async (branch) => { n = await branch.step('c', get); } } });"),
      "branch",
    ],
    "branches of a race that a map makes": [
      inWorkflow("let n; await ctx.race('a', [1, 2].map((i) => ({ name: `b${i}`, run: async (b) => { n = i; } })));"),
      "branch",
    ],
    "a step by its options, its rollback, and tryStep": [
      inWorkflow(
        "let n; await ctx.step({ name: 'a', run() { n = 1; }, rollback: () => { n = 2; } }); await ctx.tryStep('b', () => { n = 3; });",
      ),
      "step",
      "step",
      "step",
    ],
    "a function within a callback": [
      inWorkflow("let n = 0; await ctx.step('a', () => { [1, 2].forEach((i) => { n += i; }); });"),
      "step",
    ],
    "a step in a try block": [
      inWorkflow("let n; await ctx.try('t', async (block) => { await block.step('a', () => { n = 1; }); }); use(n);"),
      "step",
    ],
    "a callback that is passed by its name": [
      inWorkflow("let n = 0; const charge = () => { n = 33; }; await ctx.step('a', charge); use(n);"),
      "step",
    ],
    "a workflow that is passed by its name, another name of the context, other imports": [
      "import { workflow as durable } from 'rivetkit/workflow'; async function checkout(flow) { const c = flow; let n; " +
        "await c.step('a', () => { n = 1; }); } export default durable(checkout);",
      "step",
    ],
    "the package as a whole": [
      "import * as perdure from 'perdure/workflow'; perdure.workflow(async (c) => { let n; await c.step('a', () => { n = 1; }); });",
      "step",
    ],
    "a variable of the module that workflow code reads": [
      "import { workflow } from 'perdure/workflow'; let total = 0; workflow(async (ctx) => { await ctx.step('a', () => { " +
        "total = 33; }); if (total > 3) await ctx.sleep('b', 1); });",
      "step",
    ],
  },
);
