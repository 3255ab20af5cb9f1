import {
  bareActionRequest,
  bareActionResponse,
  bareError,
  bareQueueSendRequest,
  bareQueueSendResponse,
  bareResolveResponse,
  bareToClient,
  bareToServer,
} from "./bare-messages.js";
import { binaryFrames, forgiving, forgivingFrames, timed, type WireCodec } from "./codec.js";

/** The messages in BARE. */
export const bareCodec: WireCodec = {
  encoding: "bare",
  contentType: "application/octet-stream",
  actionRequest: bareActionRequest,
  actionResponse: bareActionResponse,
  queueSendRequest: timed(bareQueueSendRequest),
  queueSendResponse: bareQueueSendResponse,
  resolveResponse: bareResolveResponse,
  error: forgiving(bareError),
  toServer: binaryFrames(bareToServer),
  toClient: forgivingFrames(binaryFrames(bareToClient)),
};
