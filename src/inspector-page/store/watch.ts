/** A socket that tells when to read the actor anew. */
import { effect, signal } from "@preact/signals";
import { address, failure, parameters, refresh, summary } from "./actor.js";

/** Whether the page follows the actor by itself. */
export const isLive = signal(false);

const AGAIN_MS = 2_000;
const MAX_AGAIN_MS = 30_000;
/** Readings are this far apart at least, and four times as far as the last one took. */
const APART_MS = 300;

let socket: WebSocket | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let following: string | undefined;
let failures = 0;
let apartMs = APART_MS;
let isReading = false;
let isMissed = false;

/** Follows whichever actor is open. */
export function watchOpened(): void {
  effect(() => {
    const isGone = failure.value?.code === "actor/not_found";
    const isThere = address.value !== undefined && summary.value !== undefined && !isGone;
    const where = isThere ? String(new URLSearchParams(parameters())) : undefined;
    if (where === following) return;
    following = where;
    stop();
    if (where !== undefined) connect(where);
  });
}

function connect(where: string): void {
  const url = new URL(`api/watch?${where}`, location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  const opened = new WebSocket(url);
  socket = opened;
  opened.onopen = () => {
    isLive.value = true;
    // What was changed since it was read, while nobody watched yet.
    readSoon();
    failures = 0;
  };
  opened.onmessage = readSoon;
  opened.onclose = () => {
    if (socket !== opened) return;
    isLive.value = false;
    failures += 1;
    // It may be gone, or the Worker.
    if (failures === 1) readSoon();
    timer = setTimeout(() => connect(where), Math.min(MAX_AGAIN_MS, AGAIN_MS * failures));
  };
}

function stop(): void {
  const closing = socket;
  socket = undefined;
  closing?.close();
  clearTimeout(timer);
  isLive.value = false;
  failures = 0;
}

/** Reads soon; what is told meanwhile is read after that. */
function readSoon(): void {
  if (isReading) {
    isMissed = true;
    return;
  }
  isReading = true;
  setTimeout(() => {
    isMissed = false;
    const began = performance.now();
    void refresh().finally(() => {
      isReading = false;
      apartMs = Math.max(APART_MS, 4 * (performance.now() - began));
      if (isMissed) readSoon();
    });
  }, apartMs);
}
