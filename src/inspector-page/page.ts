/** Where the page begins. */
import { createElement, render } from "preact";
import { followFragment, refresh } from "./store/actor.js";
import { startClock } from "./store/clock.js";
import { begin, me } from "./store/session.js";
import { watchOpened } from "./store/watch.js";
import { App } from "./view/app.js";
import { isSheetOpen } from "./view/opened.js";

addEventListener("hashchange", followFragment);
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || document.querySelector("dialog[open]")) return;
  isSheetOpen.value = false;
  document.querySelector<HTMLElement>("[role=tree]")?.focus();
});
startClock();
watchOpened();
render(createElement(App, {}), document.body);
await begin();
if (me.value) await refresh();
