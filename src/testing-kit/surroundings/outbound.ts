/** `world.fetch`: what answers the requests that code of the world sends out. */
import { readOptions } from "../../protocol/index.js";
import type { ActorProcess } from "../../testing/index.js";
import { readTarget, type FetchTarget } from "./fetch-target.js";
import { currentPlace, inPlace } from "./place.js";

/**
 * An answer: a Response, of which each request gets a copy; a text; any other value as JSON; nothing as 204. Or a function that
 * gives one, and may be asynchronous; an error that it throws is what `fetch` rejects with.
 */
export type FetchAnswer = object | string | number | boolean | null | ((request: Request) => unknown);

/** Which requests a double answers. */
export interface FetchOptions {
  /** The method, in any case. Default: every one. */
  readonly method?: string;
  /** How many requests it answers; later ones go to what was declared before it. Default: all. */
  readonly times?: number;
  /** Whether it may stay unused: a default of several tests. Default: false. */
  readonly optional?: boolean;
}

/** A request that code of the world sent. */
export interface FetchCall {
  /** The name and key of the actor; undefined for code of the Worker. */
  readonly actor: string | undefined;
  readonly key: readonly string[] | undefined;
  readonly method: string;
  readonly url: string;
  /** A copy, whose body can be read. */
  readonly request: Request;
  /** The world's time, epoch ms. */
  readonly at: number;
}

/** An answer that was declared. */
export interface FetchDouble {
  /** The requests that it has answered, the first first. */
  calls(): readonly FetchCall[];
}

/** The outside, as code of a world reaches it by `fetch`. */
export interface WorldFetch {
  /**
   * Answers requests of the actors. A URL without a query fits every query; one that ends with `*` fits what begins like
   * it. Of several that fit, the one declared last answers, as long as it has answers left. One that was never used is an
   * error at the world's end, unless it is `optional`, as is a request that nothing answered.
   *
   * @example
   *     const charges = world.fetch.on("https://api.example.com/charges", async (request) => {
   *       const { amount } = await request.json();
   *       return { id: "ch_1", amount };
   *     }, { method: "POST" });
   *     world.fetch.on("https://api.example.com/*", new Response("down", { status: 503 }), { times: 2 });
   * @throws TypeError when the URL or an option is not valid
   */
  on(
    target: FetchTarget,
    answer?: FetchAnswer | ((request: Request) => FetchAnswer | Promise<FetchAnswer | void> | void),
    options?: FetchOptions,
  ): FetchDouble;
  /**
   * Lets requests out: to the `fetch` that was there before the first world.
   *
   * @example
   *     world.fetch.allow("http://localhost:8025/*");
   * @throws TypeError when the URL or an option is not valid
   */
  allow(target: FetchTarget, options?: FetchOptions): FetchDouble;
  /**
   * Never answers: the request ends with its signal, and the step that awaits it with its timeout. Time passes meanwhile.
   *
   * @example
   *     world.fetch.hangs("https://api.example.com/charges");
   *     await world.advance("30s");
   * @throws TypeError when the URL or an option is not valid
   */
  hangs(target: FetchTarget, options?: FetchOptions): FetchDouble;
  /** All requests that were sent, answered or not, the first first. */
  calls(): readonly FetchCall[];
}

interface Declared {
  readonly text: string;
  fits(url: URL): boolean;
  readonly method: string | undefined;
  readonly times: number;
  readonly answer: (request: Request) => unknown;
  readonly isOptional: boolean;
  readonly hangs: boolean;
  readonly calls: FetchCall[];
}

/** Begins what the code that asks waits for: `awaited` while time passes, `working` while it stands. */
type Follow = Readonly<Record<"awaited" | "working", <T>(begin: () => Promise<T>) => Promise<T>>>;

const OPTION_NAMES = ["method", "times", "optional"] as const;
/** How many requests, or problems, an error lists. */
const MAX_LISTED = 10;

export class Outbound {
  readonly #now: () => number;
  readonly #follow: Follow;
  readonly #declared: Declared[] = [];
  readonly #calls: FetchCall[] = [];
  /** What is wrong with them, and how often. */
  readonly #unanswered = new Map<string, number>();

  constructor(now: () => number, follow: Follow) {
    this.#now = now;
    this.#follow = follow;
  }

  get view(): WorldFetch {
    return {
      on: (target, answer, options) => this.#declare("on", target, options, answererOf(answer)),
      allow: (target, options) => this.#declare("allow", target, options, fetchOutside),
      hangs: (target, options) => this.#declare("hangs", target, options, () => new Promise(() => {})),
      calls: () => [...this.#calls],
    };
  }

  /** Answers a request of a process, or of the Worker. */
  async answer(request: Request, process: ActorProcess | undefined): Promise<Response> {
    const { signal, method, url } = request;
    signal.throwIfAborted();
    const { name, key } = process?.actor ?? {};
    const call: FetchCall = { actor: name, key, method, url, request: request.clone(), at: this.#now() };
    this.#calls.push(call);
    const declared = this.#find(call);
    if (!declared) {
      const sentence = this.#sentence(call);
      this.#unanswered.set(sentence, (this.#unanswered.get(sentence) ?? 0) + 1);
      throw new Error(sentence);
    }
    declared.calls.push(call);
    const place = currentPlace();
    // The double is no code of the actor: it has the world's time, and the real network.
    const answered = inPlace(place && { ...place, process: undefined, fetch: undefined }, async () =>
      declared.answer(request),
    );
    const given = (): Promise<unknown> => orAborted(answered, signal);
    const { awaited, working } = this.#follow;
    return responseOf(await (declared.hangs ? awaited(given) : working(given)), url);
  }

  /** @throws Error when nothing answered a request, or an answer that was declared was never used */
  checkUsed(): void {
    const unused = this.#declared.filter(({ isOptional, calls }) => !isOptional && calls.length === 0);
    const unasked = unused.filter((each) => this.#takenFrom(each).length === 0);
    const problems = [
      ...[...this.#unanswered].map(([sentence, times]) => (times === 1 ? sentence : `${sentence} (${times} times)`)),
      ...unused
        .filter((each) => !unasked.includes(each))
        .map(
          (each) =>
            `The answer to ${each.text} was never used: one declared later answered ${listed(this.#takenFrom(each))}`,
        ),
      ...(unasked.length > 0
        ? [
            `Answers were declared with world.fetch and never asked for: ${unasked.map(({ text }) => text).join(", ")}. ` +
              `Requests that were made: ${listed(this.#calls)}`,
          ]
        : []),
    ].slice(0, MAX_LISTED);
    const advice = unused.length > 0 ? ". One that a test need not use is declared with { optional: true }" : "";
    if (problems.length > 0) throw new Error(`${problems.join("\n")}${advice}`);
  }

  /** The requests that it would have answered, had none been declared after it. */
  #takenFrom(declared: Declared): readonly FetchCall[] {
    const later = this.#declared.slice(this.#declared.indexOf(declared) + 1);
    return later.flatMap(({ calls }) => calls.filter((call) => isMeant(declared, call)));
  }

  #declare(
    what: "allow" | "hangs" | "on",
    target: FetchTarget,
    options: FetchOptions | undefined,
    answer: Declared["answer"],
  ): FetchDouble {
    const fail = (problem: string): TypeError => new TypeError(`world.fetch.${what}(): ${problem}`);
    const {
      method,
      times = Infinity,
      optional = what === "allow",
    } = readOptions<FetchOptions>(`world.fetch.${what}`, options, OPTION_NAMES, fail);
    if (method !== undefined && typeof method !== "string") throw fail("method must be a string");
    if (times !== Infinity && !(Number.isSafeInteger(times) && times > 0))
      throw fail("times must be a whole number, 1 or more");
    if (typeof optional !== "boolean") throw fail("optional must be true or false");
    const { fits, text } = readTarget(target, fail);
    const calls: FetchCall[] = [];
    const upper = method?.toUpperCase();
    const hangs = what === "hangs";
    const shown = upper === undefined ? text : `${upper} ${text}`;
    this.#declared.push({ text: shown, fits, method: upper, times, answer, isOptional: optional, hangs, calls });
    return { calls: () => [...calls] };
  }

  #find(call: FetchCall): Declared | undefined {
    return this.#declared.findLast((each) => each.calls.length < each.times && isMeant(each, call));
  }

  #sentence({ actor, key, method, url }: FetchCall): string {
    const who = actor === undefined ? "The Worker" : `The actor ${JSON.stringify(actor)} ${JSON.stringify(key)}`;
    const near = this.#declared
      .filter(({ fits }) => fits(new URL(url)))
      .map(({ text, times, calls }) => (calls.length < times ? text : `${text} (used up after ${countOf(times)})`));
    return (
      `${who} requests ${method} ${url}, for which no answer is declared` +
      `${near.length > 0 ? `; there is one for ${near.join(", ")}` : ""}. A test reaches no network by itself: declare one ` +
      `with world.fetch.on(${JSON.stringify(url)}, () => ({ … })), or let it out with world.fetch.allow(${JSON.stringify(url)})`
    );
  }
}

function isMeant(declared: Declared, { method, url }: FetchCall): boolean {
  return (declared.method ?? method) === method && declared.fits(new URL(url));
}

function listed(calls: readonly FetchCall[]): string {
  const requests = [...new Set(calls.map(({ method, url }) => `${method} ${url}`))];
  return requests.slice(0, MAX_LISTED).join(", ") || "none";
}

function countOf(times: number): string {
  return times === 1 ? "1 request" : `${times} requests`;
}

function answererOf(answer: unknown): Declared["answer"] {
  return typeof answer === "function" ? (answer as Declared["answer"]) : () => answer;
}

/** In its place a double's `fetch` is the real one. */
function fetchOutside(request: Request): Promise<Response> {
  return fetch(request);
}

/** The answer, as a Response of its own. */
function responseOf(answer: unknown, url: string): Response {
  const response = rawResponseOf(answer);
  if (response.url === "") Object.defineProperty(response, "url", { value: url, configurable: true });
  return response;
}

function rawResponseOf(answer: unknown): Response {
  if (answer === undefined) return new Response(null, { status: 204 });
  if (answer instanceof Response) return answer.clone();
  return typeof answer === "string" ? new Response(answer) : Response.json(answer);
}

/** Rejects with the signal's reason if it fires first. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
