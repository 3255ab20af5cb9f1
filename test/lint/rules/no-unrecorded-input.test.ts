import { checkRule, inWorkflow } from "../check-rule.js";

checkRule(
  "no-unrecorded-input",
  {
    "all of it in steps": inWorkflow(
      "await ctx.step('a', async (step) => { await fetch('x'); setTimeout(f, 1); return [Date.now(), new Date(), Math.random()]; });",
    ),
    "a step's callback by its name": inWorkflow(
      "const now = () => Date.now(); const t = await ctx.step('a', now); use(t);",
    ),
    "a function that only steps call": inWorkflow("const get = () => fetch('x'); await ctx.step('a', () => get());"),
    "a function of the module, which is not followed":
      "import { workflow } from 'perdure/workflow'; const now = () => Date.now(); workflow(async (ctx) => { use(now()); });",
    "times that are made from something": inWorkflow("const at = new Date(2027, 0, 1); await ctx.sleepUntil('a', at);"),
    "times of waits, which are stored": inWorkflow(
      "await ctx.sleepUntil('a', Date.now() + 5); await ctx.queue.next('b', { timeout: Math.max(0, 9 - Date.now()) });",
    ),
    "a constant that is only such a time": inWorkflow(
      "const at = Math.max(Date.now(), 9); await ctx.sleepUntil('a', at);",
    ),
    "the first state of a loop": inWorkflow(
      "await ctx.loop({ name: 'a', state: { at: Date.now() }, run: (l, s) => {} });",
    ),
    logs: inWorkflow("ctx.log.info('at', Date.now()); console.log(new Date());"),
    "names of one's own": inWorkflow(
      "const fetch = (x) => x; const Date = { now: () => 1 }; use(fetch(1), Date.now());",
    ),
    "other actors' code":
      "import { workflow } from 'perdure/workflow'; export const run = async (c) => fetch(Date.now());",
    "a clock that comes in by a definition of itself": inWorkflow("await ctx.sleep('a', 1); const at = 1; use(at);"),
  },
  {
    "clock and random values": [
      inWorkflow("use(Date.now(), new Date(), Date(), performance.now(), Math.random(), crypto.randomUUID());"),
      ...Array<string>(6).fill("value"),
    ],
    requests: [inWorkflow("await fetch('x'); new WebSocket('x');"), "call", "call"],
    timers: [
      inWorkflow("await new Promise((done) => setTimeout(done, 10)); await scheduler.wait(5);"),
      "timer",
      "timer",
    ],
    "by way of globalThis": [inWorkflow("await globalThis.fetch('x'); use(globalThis.Date.now());"), "call", "value"],
    "imports of Node": [
      "import { randomUUID as id } from 'node:crypto'; import { setTimeout } from 'timers/promises'; import * as c from 'crypto';" +
        inWorkflow("use(id()); await setTimeout(5); use(c.randomBytes(3));"),
      "value",
      "timer",
      "value",
    ],
    "iterations, branches and blocks": [
      inWorkflow(
        "await ctx.loop('a', async (l) => { use(Date.now()); }); await ctx.try('b', async () => { use(Date.now()); }); " +
          "await ctx.join('c', { d: { run: async () => fetch('x') } });",
      ),
      "value",
      "value",
      "call",
    ],
    "functions that run at once": [
      inWorkflow("const ids = [1, 2].map(() => Math.random()); (() => { use(Date.now(), ids); })();"),
      "value",
      "value",
    ],
    "a function of the workflow that it calls": [
      inWorkflow("const now = () => Date.now(); function later() { return Date.now() + 5; } use(now(), later());"),
      "value",
      "value",
    ],
    "names of operations, also of branches": [
      inWorkflow(
        "await ctx.step(`a${Date.now()}`, f); await ctx.step({ name: Math.random(), run: f }); " +
          "await ctx.race('b', [{ name: `c${Math.random()}`, run: f }]);",
      ),
      "value",
      "value",
      "value",
    ],
    "a constant that is also used otherwise": [
      inWorkflow("const now = Date.now(); await ctx.sleepUntil('a', now + 5); if (now > 9) await ctx.sleep('b', 1);"),
      "value",
    ],
  },
);
