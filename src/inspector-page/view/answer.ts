import { useCallback, useEffect, useState } from "preact/hooks";
import { parameters, reading } from "../store/actor.js";
import { ApiError, get } from "../store/api.js";
import { failedWith } from "../store/session.js";

/** What a route answered about the open actor. */
export interface Answer<T> {
  readonly data?: T;
  readonly error?: ApiError;
  readonly reload: () => void;
}

/** Asks a route about the open actor, and again whenever the actor was read anew. What was there stays until then. */
export function useAnswer<T>(path: string, more: Readonly<Record<string, string>> = {}, isAsked = true): Answer<T> {
  const [found, setFound] = useState<{ readonly data?: T; readonly error?: ApiError }>({});
  const [turn, setTurn] = useState(0);
  const asked = JSON.stringify([path, { ...parameters(), ...more }]);
  const read = reading.value;
  useEffect(() => {
    if (!isAsked) return undefined;
    let isCurrent = true;
    const [where, params] = JSON.parse(asked) as [string, Record<string, string>];
    get<T>(where, params).then(
      (data) => isCurrent && setFound({ data }),
      (error: unknown) => {
        failedWith(error);
        if (isCurrent) setFound({ error: error instanceof ApiError ? error : new ApiError(0, "page", String(error)) });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [asked, turn, read, isAsked]);
  return { ...found, reload: useCallback(() => setTurn((before) => before + 1), []) };
}
