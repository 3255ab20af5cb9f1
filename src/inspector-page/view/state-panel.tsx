/** The stored state, and its edit: sent with the hash of what was seen, so that nobody's change is written over. */
import { useState } from "preact/hooks";
import type { InspectedState } from "../model/answers.js";
import { changesOnly, diffLines } from "../model/line-diff.js";
import { parameters, refresh } from "../store/actor.js";
import { act, ApiError, get, jsonProblem, jsonText } from "../store/api.js";
import { me } from "../store/session.js";
import { useAnswer } from "./answer.js";
import { Failure } from "./failure.js";
import { Value } from "./value.js";
import { Waiting } from "./waiting.js";

/** What an edit began from. */
interface Seen {
  readonly text: string;
  readonly hash: string;
}

export function StatePanel() {
  const answer = useAnswer<InspectedState>("state");
  const [seen, setSeen] = useState<Seen>();
  const { data } = answer;
  if (seen) return <StateEditor seen={seen} onDone={() => setSeen(undefined)} />;
  if (!data) return <Waiting answer={answer} />;
  if (data.hash === undefined)
    return <p class="faint">{data.isEnabled ? "No state is stored yet." : "This actor has no state."}</p>;
  const { hash } = data;
  return (
    <>
      <Value value={data.state} label="State" />
      {me.value?.write && (
        <button type="button" onClick={() => setSeen({ text: jsonText(data.state), hash })}>
          Edit…
        </button>
      )}
    </>
  );
}

function StateEditor({ seen: first, onDone }: { readonly seen: Seen; readonly onDone: () => void }) {
  const [seen, setSeen] = useState(first);
  const [text, setText] = useState(first.text);
  const [error, setError] = useState<ApiError>();
  /** What others changed meanwhile. */
  const [changed, setChanged] = useState<readonly [before: string, after: string]>();
  const problem = jsonProblem(text);
  const isSame = text === seen.text;

  const save = async (): Promise<void> => {
    setError(undefined);
    try {
      await act("PATCH", "state", parameters(), { headers: { "if-match": `"${seen.hash}"` }, body: text });
      onDone();
      void refresh();
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
      if (refusal.status !== 412) return;
      const { state, hash = "" } = await get<InspectedState>("state", parameters());
      const after = jsonText(state);
      setChanged([seen.text, after]);
      setSeen({ text: after, hash });
    }
  };

  return (
    <div class="editor">
      <label for="state-text">State as tagged JSON</label>
      <textarea
        id="state-text"
        spellcheck={false}
        rows={Math.min(24, Math.max(6, text.split("\n").length + 1))}
        value={text}
        aria-describedby="state-problem"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p id="state-problem" class="problem" role="status">
        {problem === undefined ? "" : `It cannot be stored: ${problem}`}
      </p>
      {error && <Failure error={error} />}
      {changed && (
        <>
          <h2 class="minor">What changed meanwhile</h2>
          <Diff before={changed[0]} after={changed[1]} label="What changed meanwhile" />
          <p>Your text is untouched. Below is what saving it now would change of the new state.</p>
        </>
      )}
      {!isSame && problem === undefined && (
        <>
          <h2 class="minor">Your edit</h2>
          <Diff before={seen.text} after={text} label="Your edit" />
        </>
      )}
      <div class="buttons">
        <button type="button" class="primary" disabled={isSame || problem !== undefined} onClick={() => void save()}>
          {changed ? "Save over the new state" : "Save"}
        </button>
        {changed && (
          <button type="button" onClick={() => setText(seen.text)}>
            Take the new state
          </button>
        )}
        <button type="button" onClick={onDone}>
          Discard
        </button>
      </div>
      <p class="faint">
        What JSON lacks has a tag: <code>["$BigInt","12"]</code>, <code>["$Date",0]</code>,{" "}
        <code>["$Map",[["key",1]]]</code>.
      </p>
    </div>
  );
}

const SIGNS = { same: " ", removed: "−", added: "+", cut: "⋯" } as const;

function Diff({ before, after, label }: { readonly before: string; readonly after: string; readonly label: string }) {
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {changesOnly(diffLines(before, after)).map(({ kind, text }, index) => (
        <span key={index} class="line" data-kind={kind}>
          {`${SIGNS[kind]} ${text}\n`}
        </span>
      ))}
    </pre>
  );
}
