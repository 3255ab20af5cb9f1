/** What worlds put in the place of globals: there while a world is, and of effect only for code of one. */
import { whileAlive } from "../../testing/index.js";
import { livingTimers } from "./living-timers.js";
import { currentPlace } from "./place.js";
import { virtualDate } from "./virtual-date.js";

type Replaced = Pick<typeof globalThis, "Date" | "fetch" | "setInterval" | "setTimeout">;

let worlds = 0;
let restore: () => void = () => {};

/** Replaces the globals for one more world. The last that gives them back restores what was there. */
export function replaceGlobals(): () => void {
  if (worlds === 0) restore = replace();
  worlds += 1;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    worlds -= 1;
    if (worlds === 0) restore();
  };
}

function replace(): () => void {
  const { Date: RealDate, fetch: realFetch, setInterval: realInterval, setTimeout: realTimeout } = globalThis;
  const replaced: Replaced = {
    Date: virtualDate(RealDate, () => currentPlace()?.now()),
    fetch: worldFetch(realFetch),
    setInterval: livingTimers(realInterval, currentPlace),
    setTimeout: livingTimers(realTimeout, currentPlace),
  };
  const restores = [
    // `new Date().constructor === Date`
    put(RealDate.prototype, "constructor", replaced.Date),
    ...Object.entries(replaced).map(([name, value]) => put(globalThis, name, value)),
  ];
  return () => {
    for (const each of restores) each();
  };
}

/** Puts a value in the place of another. What is given back restores that one, unless somebody has put a third there. */
function put(holder: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: before?.enumerable ?? false,
  });
  return () => {
    if (before && Object.getOwnPropertyDescriptor(holder, name)?.value === value)
      Object.defineProperty(holder, name, before);
  };
}

function worldFetch(realFetch: typeof fetch): typeof fetch {
  return function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const place = currentPlace();
    const answer = place?.fetch;
    if (!answer) return realFetch(input as RequestInfo, init);
    const { process } = place;
    const begin = async (): Promise<Response> => {
      const request = new Request(input as RequestInfo, init);
      if (!process) return answer(request, process);
      // As the platform's output gate: nothing leaves before what was written is durable.
      await process.actor.store.outputGate();
      return whileAlive(process.isAlive, () => answer(request, process));
    };
    return process ? whileAlive(process.isAlive, begin) : begin();
  } as typeof fetch;
}
