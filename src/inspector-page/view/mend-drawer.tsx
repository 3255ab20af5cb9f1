/** The drawer in which a workflow is mended: what can be done, what that means, and what was done. */
import { useEffect, useRef, useState } from "preact/hooks";
import { textOfKey } from "../model/address.js";
import type { AuditLine } from "../model/answers.js";
import { verbsFor, type Verb } from "../model/verbs.js";
import { address, parameters, refresh, selectedEntry, summary } from "../store/actor.js";
import { act, ApiError, getText } from "../store/api.js";
import { failedWith, me } from "../store/session.js";
import { useAnswer } from "./answer.js";
import { Failure } from "./failure.js";
import { askedVerb, isMending } from "./opened.js";
import { Time } from "./time.js";

export function MendDrawer() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isMending.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isMending.value]);
  return (
    <dialog
      ref={dialog}
      class="drawer"
      aria-labelledby="mend-title"
      onClose={() => (isMending.value = false)}
      onClick={(event) => {
        // A click beside it.
        if (event.target === dialog.current) isMending.value = false;
      }}
    >
      {isMending.value && <Mending />}
    </dialog>
  );
}

function Mending() {
  const [chosen, setChosen] = useState(askedVerb.value);
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState("");
  const status = summary.value?.workflow.status ?? "none";
  const entry = selectedEntry.value;
  const carryOut = async (verb: Verb): Promise<void> => {
    setError(undefined);
    setDone("");
    const from = verb.name === "replay" && entry?.kind === "step" ? { entry: entry.id } : {};
    try {
      await act("POST", `workflow/${verb.name}`, { ...parameters(), ...from });
      setChosen(undefined);
      setDone(`${verb.label}: done. Its line is in the audit.`);
      await refresh();
    } catch (refusal) {
      failedWith(refusal);
      setError(refusal as ApiError);
    }
  };
  return (
    <div class="mend">
      <header>
        <h2 id="mend-title">Mend it</h2>
        <button type="button" class="small" onClick={() => (isMending.value = false)}>
          Close
        </button>
      </header>
      {me.value?.write !== true && <p class="faint">You may look, and change nothing.</p>}
      <p role="status" class="done">
        {done}
      </p>
      {error && <Failure error={error} />}
      <ul class="plain verbs">
        {verbsFor(status, entry).map((verb) => (
          <VerbItem
            key={verb.name}
            verb={verb}
            isChosen={chosen === verb.name && verb.refusal === undefined}
            onChoose={(isChosen) => setChosen(isChosen ? verb.name : undefined)}
            onConfirm={() => void carryOut(verb)}
          />
        ))}
      </ul>
      <h3>Download</h3>
      <Download />
      <h3>What was done here lately</h3>
      <Audit />
    </div>
  );
}

interface VerbProps {
  readonly verb: Verb;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  readonly onConfirm: () => void;
}

function VerbItem({ verb: { name, label, means, refusal, isDangerous }, isChosen, onChoose, onConfirm }: VerbProps) {
  const isOff = refusal !== undefined || me.value?.write !== true;
  return (
    <li class="item">
      <div class="line-of">
        <b>{label}</b>
        {!isChosen && (
          <button type="button" disabled={isOff} aria-describedby={`means-${name}`} onClick={() => onChoose(true)}>
            {label}…
          </button>
        )}
      </div>
      <p id={`means-${name}`} class={isChosen ? "" : "faint"}>
        {refusal ?? means}
      </p>
      {isChosen && (
        <p class="buttons">
          <button type="button" class={isDangerous ? "danger" : "primary"} onClick={onConfirm}>
            {label} now
          </button>
          <button type="button" onClick={() => onChoose(false)}>
            No
          </button>
        </p>
      )}
    </li>
  );
}

/** The history as a file, which the testing kit replays. */
function Download() {
  const [error, setError] = useState<ApiError>();
  const download = async (): Promise<void> => {
    setError(undefined);
    try {
      const { histories } = JSON.parse(await getText("histories", parameters())) as { histories: readonly unknown[] };
      const { name = "actor", key = [] } = address.value ?? {};
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify(histories[0])], { type: "application/json" }));
      link.download = `${name}-${textOfKey(key)}.history.json`.replace(/[^\w.-]+/g, "_");
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (refusal) {
      setError(refusal as ApiError);
    }
  };
  return (
    <>
      {error && <Failure error={error} />}
      <p>
        <button type="button" onClick={() => void download()}>
          Download the history
        </button>{" "}
        <span class="faint">perdure-history/1, with all values: the testing kit replays it.</span>
      </p>
    </>
  );
}

function Audit() {
  const { data, error } = useAnswer<{ readonly items: readonly AuditLine[] }>("audit");
  if (error) return <Failure error={error} />;
  if (!data) return <p class="faint">Reading…</p>;
  if (data.items.length === 0)
    return <p class="faint">Nothing yet. Every act is written down here, with who did it.</p>;
  return (
    <ol class="plain audit">
      {data.items.map((line, index) => (
        <li key={index}>
          <b>{line.act}</b> by {line.by} <Time at={line.at} />{" "}
          <span class="faint">
            {Object.entries(line.detail)
              .map(([name, value]) => `${name} ${String(value)}`)
              .join(", ")}
          </span>
        </li>
      ))}
    </ol>
  );
}
