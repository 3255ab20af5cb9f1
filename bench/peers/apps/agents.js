// The jobs as one writes them with the Agents SDK: state by `setState`, its own routing, schedules, queue and fibers.
import { Agent, callable, routeAgentRequest } from "agents";

/** `runFiber` keeps its row and a checkpoint; what a crash cut off is handed to `onFiberRecovered`. */
export class Measured extends Agent {
  initialState = { value: 0, lateMs: [] };

  @callable()
  set(next) {
    this.setState({ ...this.state, value: next });
    return next;
  }

  get() {
    return this.state.value;
  }

  /** Stored before it answers; taken by an alarm. */
  async send(body) {
    await this.queue("take", body);
  }

  take() {
    this.setState({ ...this.state, value: this.state.value + 1 });
  }

  async steps(count) {
    return this.runFiber("steps", async (fiber) => {
      for (let index = 0; index < count; index += 1) {
        const result = await Promise.resolve(index);
        fiber.stash({ index, result });
      }
      return count;
    });
  }

  async sleepUntil(at) {
    await this.schedule(new Date(at), "woken", at);
  }

  woken(at) {
    this.setState({ ...this.state, lateMs: [...this.state.lateMs, Date.now() - at] });
  }

  lateMs() {
    return this.state.lateMs;
  }

  beat(url) {
    void this.runFiber("beat", (fiber) => this.#beat(url, fiber));
  }

  onFiberRecovered({ snapshot }) {
    this.beat(snapshot.url);
  }

  async #beat(url, fiber) {
    for (let beat = 0; ; beat += 1) {
      fiber.stash({ url, beat });
      await fetch(url);
      await scheduler.wait(20);
    }
  }

  /** POST …/{method} with a list of arguments. */
  async onRequest(request) {
    const method = new URL(request.url).pathname.split("/").at(-1);
    const { args } = await request.json();
    return Response.json({ output: await this[method](...args) });
  }
}

export default {
  fetch: async (request, env) => (await routeAgentRequest(request, env)) ?? new Response(),
};
