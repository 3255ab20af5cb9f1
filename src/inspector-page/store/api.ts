/** The inspector's routes, as the page calls them: below its own path, with its cookie. */
import { decodeJson, encodeJson } from "../../protocol/page.js";
import { prettyJson } from "../model/pretty-json.js";

/** What a route refused, or that it could not be reached. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Group and code: `actor/not_found`; `network` if there was no answer. */
  readonly code: string;
  readonly metadata: unknown;

  constructor(status: number, code: string, message: string, metadata?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.metadata = metadata;
  }
}

type Params = Readonly<Record<string, string>>;

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer to a question. @throws ApiError */
export async function get<T>(path: string, params: Params = {}): Promise<T> {
  const response = await send("GET", path, params);
  return decodeJson(await response.text()) as T;
}

/** The answer as its text. @throws ApiError */
export async function getText(path: string, params: Params = {}): Promise<string> {
  return (await send("GET", path, params)).text();
}

/** Does something. @throws ApiError */
export async function act<T>(method: string, path: string, params: Params, sent: Sent = {}): Promise<T> {
  const text = await (await send(method, path, params, sent)).text();
  return (text === "" ? {} : decodeJson(text)) as T;
}

/** Exchanges the token for the cookie. @throws ApiError */
export async function beginSession(token: string): Promise<void> {
  await send("POST", "session", {}, { headers: { authorization: `Bearer ${token}` } });
}

export async function endSession(): Promise<void> {
  await send("DELETE", "session", {});
}

/** A value as tagged JSON that a person can edit, and such a text as a value. */
export function jsonText(value: unknown): string {
  return prettyJson(JSON.parse(encodeJson(value, { extended: true })));
}

/** What is wrong with a text as tagged JSON; undefined if nothing is. */
export function jsonProblem(text: string): string | undefined {
  try {
    decodeJson(text);
    return undefined;
  } catch (error) {
    try {
      JSON.parse(text);
    } catch (syntax) {
      return String((syntax as Error).message);
    }
    return String((error as Error).message);
  }
}

async function send(method: string, path: string, params: Params, { headers, body }: Sent = {}): Promise<Response> {
  const query = String(new URLSearchParams(params));
  let response: Response;
  try {
    response = await fetch(`api/${path}${query === "" ? "" : `?${query}`}`, {
      method,
      credentials: "same-origin",
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
  } catch {
    throw new ApiError(0, "network", "The Worker cannot be reached. Is it still running, and are you online?");
  }
  if (response.ok) return response;
  throw await refusalOf(response);
}

async function refusalOf(response: Response): Promise<ApiError> {
  const told = `The Worker answered ${response.status}, and did not say why.`;
  try {
    const { group, code, message, metadata } = decodeJson(await response.text()) as Record<string, unknown>;
    return new ApiError(response.status, `${String(group)}/${String(code)}`, String(message ?? told), metadata);
  } catch {
    return new ApiError(response.status, "unknown", told);
  }
}
