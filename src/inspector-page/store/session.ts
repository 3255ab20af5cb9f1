/** Who uses the page, and whether they may. */
import { signal } from "@preact/signals";
import { ApiError, beginSession, endSession, get } from "./api.js";

export interface Me {
  readonly name: string;
  readonly write: boolean;
}

/** Undefined until it is known, and while nobody may. */
export const me = signal<Me | undefined>(undefined);
/** Whether a token is asked for. */
export const isLocked = signal(false);
/** Why the page cannot begin. */
export const beginning = signal<ApiError | undefined>(undefined);
/** The names of the registry. */
export const actorNames = signal<readonly string[]>([]);

/** Asks who one is. */
export async function begin(): Promise<void> {
  beginning.value = undefined;
  try {
    const known = await get<Me>("me");
    actorNames.value = (await get<{ actors: string[] }>("actors")).actors;
    me.value = known;
    isLocked.value = false;
  } catch (error) {
    failedWith(error);
    if (error instanceof ApiError && error.status !== 401) beginning.value = error;
  }
}

/** A session that has ended asks for the token again. */
export function failedWith(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  me.value = undefined;
  isLocked.value = true;
}

/** @throws ApiError when it is not the token */
export async function unlock(token: string): Promise<void> {
  await beginSession(token);
  await begin();
}

export async function lock(): Promise<void> {
  await endSession().catch(() => {});
  me.value = undefined;
  isLocked.value = true;
}
