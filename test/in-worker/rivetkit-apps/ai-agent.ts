import { actor, event, queue } from "rivetkit";
import { Loop, workflow, type WorkflowLoopContextOf } from "rivetkit/workflow";
import { stringifyError } from "rivetkit/utils";

interface Message {
  role: "user" | "assistant";
  content: string;
  status: "streaming" | "done";
}

/** A model that answers word by word. */
async function* model(prompt: string): AsyncGenerator<string> {
  for (const word of ["You", "said", prompt]) yield `${word} `;
}

export const agent = actor({
  state: { messages: [] as Message[], answered: 0 },
  events: { token: event<[index: number, token: string]>() },
  queues: { prompts: queue<{ text: string }>() },
  run: workflow(async (ctx) => {
    await ctx.loop("conversation", async (loop) => {
      const message = await loop.queue.next("prompt", { names: ["prompts"] });
      await answer(loop, message.body.text);
      return message.body.text === "bye" ? Loop.break("bye") : undefined;
    });
  }),
  actions: {
    messages: (c) => c.state.messages,
  },
});

async function answer(loop: WorkflowLoopContextOf<typeof agent>, text: string): Promise<void> {
  await loop.step("answer", async (step) => {
    try {
      step.state.messages.push({ role: "user", content: text, status: "done" });
      const message: Message = { role: "assistant", content: "", status: "streaming" };
      const index = step.state.messages.push(message) - 1;
      for await (const token of model(text)) {
        message.content += token;
        step.broadcast("token", index, token);
      }
      (step.state.messages[index] as Message).content = message.content;
      (step.state.messages[index] as Message).status = "done";
      step.state.answered += 1;
    } catch (error) {
      step.log.error({ msg: "the model failed", error: stringifyError(error) });
      throw error;
    }
  });
}
