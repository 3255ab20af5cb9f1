import { fileURLToPath } from "node:url";
import { ActorError, ownField, parseActorId } from "../../protocol/index.js";

/** How many errors are kept: the latest. */
const MAX_KEPT = 1_000;
/** Lines of the client, and of the world, say nothing to the caller. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url).href);

interface Masked {
  readonly objectId: string;
  readonly errorId: string;
  readonly thrown: unknown;
}

/**
 * What actors have thrown and their callers do not see. The test is no stranger: its errors are as in production, with the
 * original as their cause and the line of the call in their stack.
 */
export class MaskedErrors {
  #kept: Masked[] = [];

  add(masked: Masked): void {
    this.#kept.push(masked);
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#kept.slice(-MAX_KEPT);
  }

  /** Makes a call of the test. */
  async calling<T>(call: () => Promise<T>): Promise<T> {
    const { stack = "" } = new Error();
    try {
      return await call();
    } catch (error) {
      if (error instanceof Error && ActorError.isActorError(error)) this.#complete(error, stack);
      throw error;
    }
  }

  #complete(error: ActorError, stack: string): void {
    const lines = stack.split("\n").slice(1);
    const callers = lines.slice(lines.findLastIndex((line) => line.includes(PACKAGE)) + 1);
    if (callers.length > 0) error.stack = [`${error.name}: ${error.message}`, ...callers].join("\n");
    const masked = Object.hasOwn(error, "cause") ? undefined : this.#behind(error);
    if (masked) Object.defineProperty(error, "cause", { value: masked.thrown, writable: true, configurable: true });
  }

  /** Ids repeat among actors: that of the error's actor, or of another, whose error it has passed on. */
  #behind({ actor, metadata }: ActorError): Masked | undefined {
    if (typeof metadata !== "object" || metadata === null) return undefined;
    const errorId = ownField(metadata as { errorId?: unknown }, "errorId");
    const objectId = actor && parseActorId(actor.actorId)?.objectId;
    const ofThatId = this.#kept.filter((each) => each.errorId === errorId);
    return ofThatId.findLast((each) => each.objectId === objectId) ?? ofThatId.at(-1);
  }
}
