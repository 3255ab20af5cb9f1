import { createClientWithTransport } from "../../src/client/binding.js";
import { type ClientConfig } from "../../src/client/index.js";
import { createHttpTransport, resolveConfig } from "../../src/client/internal.js";

export interface SentRequest {
  readonly url: URL;
  readonly init: RequestInit;
  readonly body: string;
}

export type Respond = (request: SentRequest) => Response | Promise<Response>;

/** An untyped client whose requests go to the test, in JSON unless told otherwise, and which never really waits. */
export function clientOf(respond: Respond = () => Response.json({ output: null }), config: ClientConfig = {}) {
  const sent: SentRequest[] = [];
  const pauses: number[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const body = init.body;
    const request = {
      url: new URL(url),
      init,
      body: body instanceof Uint8Array ? new TextDecoder().decode(body) : typeof body === "string" ? body : "",
    };
    sent.push(request);
    return respond(request);
  };
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms);
  const transport = createHttpTransport(resolveConfig({ fetch, encoding: "json", ...config }), {
    sleep,
    random: () => 0,
  });
  return { client: createClientWithTransport(transport), sent, pauses };
}

export function errorAnswer(status: number, group: string, code: string, metadata: unknown = null): Response {
  return Response.json({ group, code, message: `it is ${code}`, metadata }, { status });
}
