// The published `@rivetkit/react`, with the published client, in a renderer without a page. Not looked at: a refusal by
// `onBeforeConnect`, after which the hook connects again at once and for ever, and shows no error.
import assert from "node:assert/strict";
import { becomes } from "./judge.mjs";

/** Without types: what is only installed in this folder. */
const published = (/** @type {string} */ name) => /** @type {Promise<any>} */ (import(name));
const { createElement, StrictMode } = await published("react");
const { create } = await published("react-test-renderer");
const { createRivetKitWithClient } = await published("@rivetkit/react");

/** @typedef {import("./cases.mjs").Case} Case */

// The renderer says of itself that it is deprecated, unless it is told that it is used on purpose.
Object.assign(globalThis, { IS_REACT_NATIVE_TEST_ENVIRONMENT: true });

/**
 * A case with components: `show` renders one that uses an actor, and the end of the case takes all of them away. What a
 * component saw last is in `seen`, the codes of all errors that it saw in `errors`, each event that it heard in `heard`.
 *
 * @typedef {{
 *   seen: any,
 *   errors: Set<string>,
 *   heard: unknown[],
 *   change(options: object, onSaid?: (...args: any[]) => void): void,
 *   remove(): void,
 * }} Shown
 * @param {string} name
 * @param {(subject: import("./cases.mjs").Subject & { room: any, show: (options?: object) => Shown }) => Promise<unknown>} run
 * @returns {Case}
 */
function reactCase(name, run) {
  return {
    name: `react: ${name}`,
    async run(subject) {
      const { client, key } = subject;
      const { useActor } = createRivetKitWithClient(client);
      /** @type {Shown[]} */
      const all = [];
      const show = (options = {}) => {
        /** @type {{ seen: any, errors: Set<string>, heard: unknown[] }} */
        const state = { seen: undefined, errors: new Set(), heard: [] };
        const hear = (/** @type {unknown[]} */ ...args) => void state.heard.push(args);
        const Component = (/** @type {{ options: object, onSaid: (...args: any[]) => void }} */ props) => {
          state.seen = useActor({ name: "room", key, ...props.options });
          if (state.seen.error) state.errors.add(state.seen.error.code);
          state.seen.useEvent("said", props.onSaid);
          return null;
        };
        const element = (/** @type {object} */ given, /** @type {(...args: any[]) => void} */ onSaid = hear) =>
          createElement(StrictMode, null, createElement(Component, { options: given, onSaid }));
        const root = create(element(options));
        /** @type {Shown} */
        const shown = Object.assign(state, {
          change: (/** @type {object} */ given, onSaid = hear) => root.update(element(given, onSaid)),
          remove: () => root.unmount(),
        });
        all.push(shown);
        return shown;
      };
      try {
        await run({ ...subject, show, room: client.room.getOrCreate(key) });
      } finally {
        for (const shown of all) shown.remove();
      }
    },
  };
}

/** @type {readonly Case[]} */
export const REACT_CASES = [
  reactCase("useActor connects; actions and events", async ({ show, room }) => {
    const shown = show({ params: { name: "ann" } });
    await becomes(() => shown.seen?.connStatus, "connected");
    assert.equal(shown.seen.error, null);
    assert.equal(shown.seen.isConnected, true);
    assert.equal(await shown.seen.connection.say("one"), 1);
    await room.say("two");
    await becomes(
      () => shown.heard,
      [
        ["ann", "one"],
        ["nobody", "two"],
      ],
    );
  }),
  reactCase("the newest listener is the one that hears", async ({ show }) => {
    const shown = show();
    await becomes(() => shown.seen?.connStatus, "connected");
    /** @type {string[]} */
    const newest = [];
    shown.change({}, (_who, text) => void newest.push(text));
    await becomes(async () => {
      await shown.seen.connection.say("to the newest");
      return newest.length > 0;
    }, true);
  }),
  reactCase("two that use the same share a connection", async ({ show, room }) => {
    const [one, other] = [show({ params: { name: "ann" } }), show({ params: { name: "ann" } })];
    await becomes(() => [one.seen?.connStatus, other.seen?.connStatus], ["connected", "connected"]);
    assert.equal(one.seen.connection, other.seen.connection);
    assert.deepEqual(await room.who(), ["ann"]);
    one.remove();
    assert.equal(await other.seen.connection.echo(1), 1);
  }),
  reactCase("taken away, it is gone on the server", async ({ show, room }) => {
    const shown = show({ params: { name: "ann" } });
    await becomes(() => shown.seen?.connStatus, "connected");
    shown.remove();
    await becomes(() => room.who(), []);
    await becomes(() => room.ends(), ["ann 1000 Disposed"]);
  }),
  reactCase("enabled: false has no connection; true makes one, false ends it", async ({ show, room }) => {
    const shown = show({ enabled: false, params: { name: "ann" } });
    await becomes(() => shown.seen?.connStatus, "idle");
    assert.equal(shown.seen.connection, null);
    assert.deepEqual(await room.who(), []);
    shown.change({ enabled: true, params: { name: "ann" } });
    await becomes(() => shown.seen?.connStatus, "connected");
    shown.change({ enabled: false, params: { name: "ann" } });
    await becomes(() => [shown.seen?.connStatus, shown.seen?.connection], ["idle", null]);
    await becomes(() => room.who(), []);
  }),
  reactCase("a lost connection comes back", async ({ show, room }) => {
    const shown = show({ params: { name: "ann" } });
    await becomes(() => shown.seen?.connStatus, "connected");
    await room.drop("ann");
    await becomes(async () => [await room.ends(), await room.who()], [["ann 1000 dropped"], ["ann"]]);
    await becomes(() => shown.seen?.connStatus, "connected");
    await room.say("after");
    await becomes(() => shown.heard, [["nobody", "after"]]);
  }),
  reactCase("noCreate finds only what exists", async ({ show, key, room }) => {
    const absent = show({ key: `${key}-absent`, noCreate: true });
    await becomes(() => absent.errors.has("not_found"), true);
    absent.remove();
    await room.echo(1);
    const present = show({ noCreate: true });
    await becomes(() => present.seen?.connStatus, "connected");
  }),
];
