import { textOfKey } from "../model/address.js";
import { headlineOf, type FirstStep, type Words } from "../model/sentences.js";
import { entries, isLoading, refresh, summary } from "../store/actor.js";
import { now } from "../store/clock.js";
import { me } from "../store/session.js";
import { isLive } from "../store/watch.js";
import { Copy } from "./copy.js";
import { mend, openPanel } from "./opened.js";

/** How the actor stands, in a sentence, and the one thing to do about it. */
export function Headline() {
  const known = summary.value;
  if (!known) return null;
  const { tone, badge, words, firstStep } = headlineOf(known, entries.value, now.value);
  document.title = `${badge}: ${known.name} ${textOfKey(known.key)}`;
  return (
    <section class="headline" data-tone={tone} aria-label="How it stands">
      <div class="who">
        <h1>
          {known.name} <span class="key">{textOfKey(known.key)}</span>
        </h1>
        <Copy text={known.actorId} shown={`${known.actorId.slice(0, 14)}…`} label="the actor's id" />
        <span class="tag">{known.isAwake ? "in memory" : "asleep"}</span>
        {!known.isRegistered && <span class="tag warn">its class is gone from this Worker</span>}
        <span class="live" data-live={isLive.value}>
          {isLive.value ? "live" : "not live"}
        </span>
      </div>
      <div class="why">
        <p class="sentence" role="status">
          <span class="badge">{badge}</span> {words.map((word) => wordOf(word))}
        </p>
        <div class="buttons">
          {firstStep && me.value?.write && <FirstButton step={firstStep} />}
          {known.workflow.status !== "none" && (
            <button type="button" onClick={() => mend()}>
              Mend…
            </button>
          )}
          <button type="button" onClick={() => void refresh()} disabled={isLoading.value}>
            Refresh
          </button>
        </div>
      </div>
    </section>
  );
}

function wordOf(word: Words) {
  return typeof word === "string" ? word : <b>{word.name}</b>;
}

function FirstButton({ step }: { readonly step: FirstStep }) {
  const isSend = step === "send";
  const press = (): void => {
    if (isSend) openPanel("queue");
    else mend(step === "retry" ? "recover" : "resume");
  };
  return (
    <button type="button" class="primary" onClick={press}>
      {isSend ? "Send a message" : step === "retry" ? "Retry…" : "Resume…"}
    </button>
  );
}
