import {
  ActorError,
  decodeValue,
  fromErrorData,
  parseBase64,
  REFUSAL_HEADER,
  type ErrorData,
} from "../../protocol/index.js";

/** The error an object answered a request with, encoded by the storage codec. */
export async function refusalOf(response: Response): Promise<ActorError> {
  const header = response.headers.get(REFUSAL_HEADER);
  const bytes = (header === null ? undefined : parseBase64(header)) ?? new Uint8Array(await response.arrayBuffer());
  try {
    return fromErrorData(decodeValue(bytes) as ErrorData, response.status);
  } catch {
    return new ActorError("rivetkit", "internal_error", "The actor's object answered a request with something else.");
  }
}
