import { useState } from "preact/hooks";
import { unlock } from "../store/session.js";
import { refresh } from "../store/actor.js";

/** Asks for the token, and exchanges it for the cookie. */
export function TokenForm() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    unlock(token).then(
      () => void refresh(),
      (error: Error) => setProblem(`${error.message} Check that it is the whole token.`),
    );
  };
  return (
    <main class="center">
      <form class="card" onSubmit={submit}>
        <h1>Inspector</h1>
        <p>This inspector asks for its token: the secret that its Worker gives to inspector().</p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          autofocus
          required
          value={token}
          aria-describedby="token-problem"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p id="token-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary">
          Open
        </button>
        <p class="faint">It is exchanged for a cookie that lasts twelve hours, and kept nowhere else.</p>
      </form>
    </main>
  );
}
