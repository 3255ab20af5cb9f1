import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { keyOfText, textOfKey } from "../model/address.js";
import { address, open } from "../store/actor.js";
import { latelyOpened } from "../store/lately-opened.js";
import { actorNames } from "../store/session.js";

/** A name that was picked, whose key comes next. */
const picked = signal<string | undefined>(undefined);

function beginWith(name: string): void {
  picked.value = name;
  document.getElementById("open-key")?.focus();
}

/** Opens an actor by name and key. `/` leads here from anywhere. */
export function Opener() {
  const current = address.value;
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const nameField = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setName(current?.name ?? (actorNames.value.length === 1 ? (actorNames.value[0] ?? "") : ""));
    setKey(current ? textOfKey(current.key) : "");
  }, [current?.name, current && textOfKey(current.key), actorNames.value]);
  useEffect(() => {
    if (picked.value !== undefined) setName(picked.value);
  }, [picked.value]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target } = event;
      const isTyping = target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.key !== "/" || isTyping || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      nameField.current?.select();
      nameField.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    picked.value = undefined;
    if (name.trim() !== "") open({ name: name.trim(), key: keyOfText(key) });
  };
  return (
    <form class="opener" role="search" aria-label="Open an actor" onSubmit={submit}>
      <input
        ref={nameField}
        id="open-name"
        list="actor-names"
        placeholder="actor"
        aria-label="Actor"
        aria-keyshortcuts="/"
        autocomplete="off"
        spellcheck={false}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <datalist id="actor-names">
        {actorNames.value.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <input
        id="open-key"
        placeholder='key, or ["a","b"]'
        aria-label="Key: text, or a JSON array of strings"
        autocomplete="off"
        spellcheck={false}
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit">Open</button>
    </form>
  );
}

/** What is shown while no actor is open. */
export function Welcome() {
  const opened = latelyOpened.value;
  return (
    <main class="welcome">
      <h1>Open an actor</h1>
      <p>
        Write its name and key above, and press Enter. <kbd>/</kbd> leads there from anywhere. A key of several parts is
        a JSON array, like <code>["tenant","42"]</code>.
      </p>
      <h2>Opened lately</h2>
      {opened.length === 0 ? (
        <p class="faint">None yet in this browser.</p>
      ) : (
        <ul class="plain">
          {opened.map((each) => (
            <li key={`${each.name} ${textOfKey(each.key)}`}>
              <button type="button" class="link" onClick={() => open(each)}>
                <b>{each.name}</b> <code>{textOfKey(each.key)}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
      <h2>Actors of this Worker</h2>
      <p class="names">
        {actorNames.value.map((each) => (
          <button type="button" key={each} class="small" onClick={() => beginWith(each)}>
            {each}
          </button>
        ))}
      </p>
    </main>
  );
}
