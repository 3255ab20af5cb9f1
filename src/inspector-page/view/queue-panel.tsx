/** Stored messages: look at one, send one, delete one or all. */
import { useState } from "preact/hooks";
import type { InspectedMessage, InspectedQueue } from "../model/answers.js";
import { bytesOf, grouped } from "../model/times.js";
import { parameters, refresh, summary } from "../store/actor.js";
import { act, ApiError, jsonProblem } from "../store/api.js";
import { me } from "../store/session.js";
import { useAnswer } from "./answer.js";
import { Confirm } from "./confirm.js";
import { Failure } from "./failure.js";
import { Time } from "./time.js";
import { Value } from "./value.js";
import { Waiting } from "./waiting.js";

export function QueuePanel() {
  const answer = useAnswer<InspectedQueue>("queue");
  const [error, setError] = useState<ApiError>();
  const { data } = answer;
  const mayWrite = me.value?.write === true;
  const change = async (
    method: string,
    path: string,
    more: Record<string, string> = {},
    body?: string,
  ): Promise<boolean> => {
    setError(undefined);
    try {
      await act(method, path, { ...parameters(), ...more }, body === undefined ? {} : { body });
      await refresh();
      return true;
    } catch (refusal) {
      setError(refusal as ApiError);
      return false;
    }
  };
  return (
    <>
      <Waiting answer={answer} />
      {error && <Failure error={error} />}
      {data && data.items.length === 0 && <p class="faint">No message is stored.</p>}
      {data && data.items.length > 0 && (
        <>
          <ul class="plain messages">
            {data.items.map((message) => (
              <Message
                key={message.id}
                message={message}
                onDelete={
                  mayWrite ? () => void change("DELETE", "message", { message: String(message.id) }) : undefined
                }
              />
            ))}
          </ul>
          {data.items.length < data.size && (
            <p class="faint">
              The first {data.items.length} of {grouped(data.size)} are shown.
            </p>
          )}
          {mayWrite && (
            <Confirm
              label="Drain…"
              question={`Delete all ${grouped(data.size)} messages that the workflow has not taken? They cannot be had back.`}
              confirm="Delete them"
              onConfirm={() => void change("DELETE", "queue")}
            />
          )}
        </>
      )}
      {mayWrite && <SendForm onSend={(queue, body) => change("POST", "queue", { queue }, body)} />}
    </>
  );
}

function Message({
  message,
  onDelete,
}: {
  readonly message: InspectedMessage;
  readonly onDelete: (() => void) | undefined;
}) {
  const { id, queue, createdAt, size, waitUntil } = message;
  const [isAsked, setAsked] = useState(false);
  const answer = useAnswer<{ body: unknown }>("message", { message: String(id) }, isAsked);
  return (
    <li class="item">
      <div class="line-of">
        <span>
          <b>{queue}</b>{" "}
          <span class="faint">
            message {id}, {bytesOf(size)}
          </span>{" "}
          <Time at={createdAt} />
          {waitUntil !== undefined && <span class="tag">its sender waits</span>}
        </span>
        <span class="buttons">
          <button type="button" class="small" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
            {isAsked ? "Hide" : "Show"}
          </button>
          {onDelete && (
            <Confirm
              label="Delete…"
              question={`Delete message ${id} of ${queue}?`}
              confirm="Delete it"
              onConfirm={onDelete}
            />
          )}
        </span>
      </div>
      {isAsked && <Waiting answer={answer} />}
      {isAsked && answer.data && <Value value={answer.data.body} label={`Message ${id}`} />}
    </li>
  );
}

/** The queue that the workflow waits for, if it says so. */
function awaitedQueue(): string {
  const activity = summary.value?.workflow.parkedOn?.activities.find(({ kind }) => kind === "message");
  return activity?.kind === "message" ? (activity.queues?.[0] ?? "") : "";
}

function SendForm({ onSend }: { readonly onSend: (queue: string, body: string) => Promise<boolean> }) {
  const [queue, setQueue] = useState(awaitedQueue);
  const [body, setBody] = useState("null");
  const [sent, setSent] = useState("");
  const problem = jsonProblem(body);
  const submit = (event: Event): void => {
    event.preventDefault();
    setSent("");
    void onSend(queue, body).then((isSent) => setSent(isSent ? `Sent to ${queue}.` : ""));
  };
  return (
    <form class="send" onSubmit={submit}>
      <h2 class="minor">Send a message</h2>
      <label for="send-queue">Queue</label>
      <input id="send-queue" required value={queue} onInput={(event) => setQueue(event.currentTarget.value)} />
      <label for="send-body">Body as tagged JSON</label>
      <textarea
        id="send-body"
        rows={3}
        spellcheck={false}
        value={body}
        aria-describedby="send-problem"
        onInput={(event) => setBody(event.currentTarget.value)}
      />
      <p id="send-problem" class="problem" role="status">
        {problem === undefined ? "" : `It cannot be sent: ${problem}`}
      </p>
      <div class="buttons">
        <button type="submit" disabled={problem !== undefined || queue === ""}>
          Send
        </button>
        <span class="faint" role="status">
          {sent}
        </span>
      </div>
    </form>
  );
}
