import { ActorError, decodeRequest, decodeValue, encodeValue, MAX_SEND_WAIT_MS, own } from "../../protocol/index.js";
import { answer } from "../request/answer.js";
import { readConnParams } from "../request/read-params.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import type { ActorRequest, RouteOptions } from "./routed-request.js";
import { readBody } from "../request/read-body.js";
import { isOwnClient, wireCodecOf } from "../request/wire-encoding.js";

/**
 * `POST …/queue/{name}`: stores a message, then answers; with `wait` it answers once the message is completed or the
 * timeout passes. Throws the caller's mistakes, and the actor's errors.
 */
export async function serveQueue(
  { request, url, userQuery, target, access }: ActorRequest,
  name: string,
  options: RouteOptions,
): Promise<Response> {
  const codec = wireCodecOf(request.headers);
  const params = readConnParams(request.headers);
  const bytes = await readBody(request, options.maxQueueBodySize, () => messageTooLarge(options.maxQueueBodySize));
  const send = own(
    decodeRequest(
      codec,
      codec.queueSendRequest,
      bytes,
      'The body of a queue send is {"body": …, "wait"?: true or false, "timeout"?: milliseconds}.',
    ),
  );
  if (send.name !== undefined && send.name !== name)
    throw new ActorError("request", "invalid", "The path and the body name different queues.");
  if (send.timeout !== undefined && send.timeout > MAX_SEND_WAIT_MS) {
    throw new ActorError(
      "request",
      "invalid",
      `A timeout has at most ${MAX_SEND_WAIT_MS} milliseconds (a day), not ${send.timeout}.`,
    );
  }
  const sent = await access.sendMessage({
    target,
    queue: name,
    body: encodeValue(send.body, { what: "body" }),
    wait: send.wait ?? false,
    request: forwardedRequest(request, url, userQuery),
    signal: request.signal,
    ...(send.timeout !== undefined && { timeoutMs: send.timeout }),
    ...(params !== undefined && { params }),
  });
  const { actorId, status, reply } = own(sent);
  const outcome = { status, ...(reply !== undefined && { response: decodeValue(reply) }) };
  const encoded = codec.queueSendResponse.encode(outcome, { extended: isOwnClient(request.headers) });
  return answer(encoded, codec, actorId, options.maxOutgoingMessageSize);
}

function messageTooLarge(limitBytes: number): ActorError {
  return new ActorError("queue", "message_too_large", `A queue message has at most ${limitBytes} bytes.`, {
    metadata: { limitBytes },
  });
}
