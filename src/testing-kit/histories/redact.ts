import type { PortableEntry, RecordedHistory, RecordedRun, Tree } from "../../actor/index.js";
import { fromJsonTree, kindOf, own, toJsonTree } from "../../protocol/index.js";
import { formatLocation } from "../../workflow/index.js";

/** Where in a history a value stands. */
export interface RedactedPlace {
  readonly actor: string;
  /** The location of the entry: `charge`, `poll/~3/read`; empty for what belongs to the whole run. */
  readonly at: string;
  readonly kind: "result" | "message" | "error" | "state" | "output" | "key";
  /** The path within the recorded value: `$.card.number`. */
  readonly path: string;
}

/** What `redact` is asked about: the leaves of values. Booleans, null and undefined are kept, as are names of properties. */
export type RedactableValue = string | number | bigint | Date | ArrayBuffer | ArrayBufferView;

/**
 * Replaces values of a history, or keeps them by returning what it was given. The replacement must have the same type;
 * a string is cut, or repeated, to the length of the one that it replaces. `true` replaces every value by letters x, zeros and
 * the start of 1970.
 */
export type Redact = true | ((value: RedactableValue, where: RedactedPlace) => unknown);

const TAGGED = { extended: true } as const;

/** A copy of a history with its values replaced and marked: types, booleans and lengths stay. */
export function redactHistory(history: RecordedHistory, redact: Redact): RecordedHistory {
  const { actor } = history;
  const redaction = new Redaction(redact === true ? masked : redact, actor);
  const entries = history.entries.map((entry) => redaction.entry(entry));
  redaction.count = 0;
  const run = redaction.run(own(history.run) as unknown as RecordedRun);
  const ofRun = redaction.count;
  redaction.count = 0;
  const key = history.key.map((part, index) =>
    redaction.value(part, { actor, at: "", kind: "key", path: `$[${index}]` }),
  );
  return {
    ...history,
    key: key as string[],
    run,
    entries,
    redacted: { key: redaction.count + (history.redacted?.key ?? 0), run: ofRun + (history.redacted?.run ?? 0) },
  };
}

function masked(value: RedactableValue): RedactableValue {
  switch (typeof value) {
    case "string":
      return "x";
    case "number":
      return 0;
    case "bigint":
      return 0n;
    default:
      return value instanceof Date ? new Date(0) : zeros(value);
  }
}

function zeros(value: ArrayBuffer | ArrayBufferView): ArrayBuffer | ArrayBufferView {
  const copy = structuredClone(value);
  if (copy instanceof ArrayBuffer) new Uint8Array(copy).fill(0);
  else new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength).fill(0);
  return copy;
}

interface StoredFailure {
  readonly kind: string;
  readonly error: StoredErrorFields;
}

interface StoredErrorFields {
  readonly message: string;
  readonly metadata?: unknown;
  readonly cause?: StoredErrorFields;
  readonly errors?: readonly StoredErrorFields[];
}

class Redaction {
  /** Values replaced so far. */
  count = 0;
  readonly #redact: Exclude<Redact, true>;
  readonly #actor: string;

  constructor(redact: Exclude<Redact, true>, actor: string) {
    this.#redact = redact;
    this.#actor = actor;
  }

  entry(entry: PortableEntry): PortableEntry {
    this.count = 0;
    const at = formatLocation(entry.at);
    const result = this.#at(at, "result");
    const { messages, results } = entry;
    const changed = {
      ...(Object.hasOwn(entry, "value") && { value: this.#tree(entry.value, result) }),
      ...(Object.hasOwn(entry, "state") && { state: this.#tree(entry.state, this.#at(at, "state")) }),
      ...(entry.failure !== undefined && { failure: this.#failureTree(entry.failure, at) }),
      ...(messages && {
        messages: messages.map((each) => ({ ...each, body: this.#tree(each.body, this.#at(at, "message")) })),
      }),
      ...(results && {
        results: results.map(
          ([branch, each]) =>
            [
              branch,
              "value" in each
                ? { value: this.#tree(each.value, result) }
                : { failure: this.#failureTree(each.failure, at) },
            ] as const,
        ),
      }),
    };
    const redacted = this.count + (entry.redacted ?? 0);
    return { ...entry, ...changed, ...(redacted > 0 && { redacted }) };
  }

  run(run: RecordedRun): RecordedRun {
    return {
      ...run,
      ...(Object.hasOwn(run, "output") && { output: this.#tree(run.output, this.#at("", "output")) }),
      ...(run.failure !== undefined && { failure: this.#failureTree(run.failure, "") }),
    };
  }

  #at(at: string, kind: RedactedPlace["kind"]): RedactedPlace {
    return { actor: this.#actor, at, kind, path: "$" };
  }

  #tree(tree: Tree, where: RedactedPlace): Tree {
    return toJsonTree(this.value(revived(tree), where), TAGGED);
  }

  #failureTree(tree: Tree, at: string): Tree {
    return toJsonTree(this.#failure(revived(tree) as StoredFailure, this.#at(at, "error")), TAGGED);
  }

  /** That of a join or race has the failure of each branch in its metadata. */
  #failure(failure: StoredFailure, where: RedactedPlace): StoredFailure {
    const { metadata } = failure.error;
    const inner = (metadata as { readonly failures?: unknown } | undefined)?.failures;
    if ((failure.kind !== "join" && failure.kind !== "race") || !Array.isArray(inner))
      return { ...failure, error: this.#error(failure.error, where) };
    const failures = inner.map((each: { readonly failure: StoredFailure }) => ({
      ...each,
      failure: this.#failure(each.failure, where),
    }));
    return { ...failure, error: { ...failure.error, metadata: { ...(metadata as object), failures } } };
  }

  #error(error: StoredErrorFields, where: RedactedPlace): StoredErrorFields {
    const { path } = where;
    return {
      ...error,
      message: this.value(error.message, { ...where, path: `${path}.message` }) as string,
      ...(error.metadata !== undefined && {
        metadata: this.value(error.metadata, { ...where, path: `${path}.metadata` }),
      }),
      ...(error.cause && { cause: this.#error(error.cause, { ...where, path: `${path}.cause` }) }),
      ...(error.errors && { errors: error.errors.map((each) => this.#error(each, where)) }),
    };
  }

  value(value: unknown, where: RedactedPlace): unknown {
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
      return this.#leaf(value, where);
    if (typeof value !== "object" || value === null) return value;
    const below = (step: string, child: unknown): unknown => this.value(child, { ...where, path: where.path + step });
    switch (kindOf(value)) {
      case "array":
        return (value as unknown[]).map((child, index) => below(`[${index}]`, child));
      case "object":
        return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, below(`.${name}`, child)]));
      case "map":
        return new Map([...(value as Map<unknown, unknown>)].map(([key, child]) => [key, below(".value", child)]));
      case "set":
        return distinct([...(value as Set<unknown>)].map((child) => below(".item", child)));
      case "error":
        return this.#thrown(value as Error, where);
      case "date":
      case "buffer":
      case "view":
        return this.#leaf(value as Date | ArrayBuffer | ArrayBufferView, where);
      default:
        return value;
    }
  }

  /** An error that is a value, not a failure. */
  #thrown(error: Error, where: RedactedPlace): unknown {
    const [tag, [name, message, properties]] = toJsonTree(error, TAGGED) as [string, [string, string, unknown]];
    const text = this.value(message, { ...where, path: `${where.path}.message` });
    return fromJsonTree([tag, [name, text, this.#tree(properties, where)]]);
  }

  #leaf(value: RedactableValue, where: RedactedPlace): unknown {
    const given = this.#redact(value, Object.freeze({ ...where }));
    if (Object.is(given, value)) return value;
    const isAlike =
      typeof given === typeof value &&
      (typeof value !== "object" ||
        (typeof given === "object" &&
          given !== null &&
          kindOf(given) === kindOf(value) &&
          sizeOf(given) === sizeOf(value)));
    if (!isAlike) {
      const place = `${where.path} of the ${where.kind} at ${where.at || "(root)"}`;
      throw new TypeError(`redact must return a value of the same type and size for ${place}`);
    }
    this.count += 1;
    return typeof given === "string" ? fitted(given, (value as string).length) : given;
  }
}

function revived(tree: Tree): unknown {
  return tree === undefined ? undefined : fromJsonTree(JSON.parse(JSON.stringify(tree)));
}

function sizeOf(value: object): number {
  return "byteLength" in value ? Number(value.byteLength) : 0;
}

function fitted(text: string, length: number): string {
  return (text === "" ? "x" : text).repeat(Math.ceil(length / Math.max(1, text.length))).slice(0, length);
}

/** A set keeps its size: strings and numbers that became the same are told apart by a number. */
function distinct(items: readonly unknown[]): Set<unknown> {
  const set = new Set<unknown>();
  for (const item of items) {
    let next = item;
    for (let n = 1; set.has(next) && n <= items.length; n += 1) {
      if (typeof item === "number") next = item + n;
      else if (typeof item === "bigint") next = item + BigInt(n);
      else if (typeof item === "string") next = `${item.slice(0, Math.max(0, item.length - String(n).length))}${n}`;
    }
    set.add(next);
  }
  return set;
}
