import { useEffect } from "preact/hooks";
import { address, failure, historyFailure, refresh, summary } from "../store/actor.js";
import { actorNames, begin, beginning, isLocked, lock, me } from "../store/session.js";
import { EntryDetail } from "./entry-detail.js";
import { Failure } from "./failure.js";
import { Headline } from "./headline.js";
import { MendDrawer } from "./mend-drawer.js";
import { Opener, Welcome } from "./opener.js";
import { Panels } from "./panels.js";
import { Timeline } from "./timeline.js";
import { TokenForm } from "./token-form.js";

export function App() {
  if (isLocked.value) return <TokenForm />;
  if (beginning.value)
    return (
      <main class="center">
        <Failure error={beginning.value} onRetry={() => void begin()} />
      </main>
    );
  if (!me.value)
    return (
      <main class="center">
        <p class="faint">Opening…</p>
      </main>
    );
  return (
    <>
      <header class="top">
        <a class="brand" href="#">
          Perdure
        </a>
        <Opener />
        <span class="me">
          <span class="faint">
            {me.value.name}
            {me.value.write ? "" : ", may look"}
          </span>
          {me.value.name === "token" && (
            <button type="button" class="small" onClick={() => void lock()}>
              Lock
            </button>
          )}
        </span>
      </header>
      {address.value ? <Actor /> : <Welcome />}
    </>
  );
}

function Actor() {
  useEffect(() => () => void (document.title = "Inspector"), []);
  const known = summary.value;
  if (failure.value && !known)
    return (
      <main>
        <h1>
          {address.value?.name} <span class="key">{JSON.stringify(address.value?.key)}</span>
        </h1>
        <Failure error={failure.value} onRetry={() => void refresh()} />
        {address.value && !actorNames.value.includes(address.value.name) && (
          <p class="faint">This Worker has no actor of that name now. It has: {actorNames.value.join(", ")}.</p>
        )}
      </main>
    );
  return (
    <main>
      {known ? <Headline /> : <p class="faint loading">Reading…</p>}
      {failure.value && <Failure error={failure.value} onRetry={() => void refresh()} />}
      {historyFailure.value && <Failure error={historyFailure.value} />}
      {known && known.workflow.status !== "none" && (
        <div class="split">
          <Timeline />
          <EntryDetail />
        </div>
      )}
      <Panels />
      <MendDrawer />
    </main>
  );
}
