import type { SendResult } from "../actor/client-types.js";
import { ActorError, decodeValue, encodeValue, toErrorData, type Creation, type Operation } from "../protocol/index.js";
import { raceWithAbort } from "./abort.js";
import { REAL_BACKOFF, withRetries, type BackoffPorts } from "./backoff.js";
import type { ActionCall, ActorTarget, ActorTransport, CreateCall, SendCall, TargetCall } from "./transport.js";

/** A call as the objects' side wants it; values are bytes of the storage codec. */
export interface BindingCall {
  readonly target:
    | { readonly name: string; readonly key: readonly string[]; readonly creation: Creation; readonly region?: string }
    | { readonly actorId: string };
  readonly operation: Operation;
  readonly params?: Uint8Array;
}

/** Calls an actor's object over its binding: what the router's `createActorCaller` gives. Rejects with ActorErrors. */
export type CallBinding = (call: BindingCall) => Promise<{ readonly actorId: string; readonly output?: Uint8Array }>;

/** Calls actors within the Worker, without HTTP. An aborted call rejects at once; the actor may still finish it. */
export function createBindingTransport(callBinding: CallBinding, ports: BackoffPorts = REAL_BACKOFF): ActorTransport {
  return new BindingTransport(callBinding, ports);
}

class BindingTransport implements ActorTransport {
  readonly #callBinding: CallBinding;
  readonly #ports: BackoffPorts;

  constructor(callBinding: CallBinding, ports: BackoffPorts) {
    this.#callBinding = callBinding;
    this.#ports = ports;
  }

  async action({ target, name, args, params, signal }: ActionCall): Promise<unknown> {
    const bytes = encodeValue([...args], { what: `the arguments of the action ${name}` });
    const { output } = await this.#call(
      {
        target: targetOf(target),
        operation: { kind: "action", name, args: bytes },
        ...(params !== undefined && { params: encodeValue(params, { what: "the connection params" }) }),
      },
      signal,
    );
    return output === undefined ? undefined : decodeValue(output);
  }

  async send(_call: SendCall): Promise<SendResult<unknown>> {
    throw new ActorError("feature", "unsupported", "Sending to a queue over the binding is not served yet.");
  }

  async resolve({ target, signal }: TargetCall): Promise<string> {
    if ("actorId" in target) return target.actorId;
    const { actorId } = await this.#call({ target: targetOf(target), operation: { kind: "resolve" } }, signal);
    return actorId;
  }

  async create({ name, key, input, region, signal }: CreateCall): Promise<string> {
    const creation: Creation = { mode: "create", ...inputOf(input) };
    const target = { name, key, creation, ...(region !== undefined && { region }) };
    const { actorId } = await this.#call({ target, operation: { kind: "resolve" } }, signal);
    return actorId;
  }

  async gatewayUrl(_call: TargetCall): Promise<string> {
    throw new ActorError("feature", "unsupported", "An actor called over its binding has no gateway URL.");
  }

  #call(call: BindingCall, signal: AbortSignal | undefined): ReturnType<CallBinding> {
    const attempt = (): ReturnType<CallBinding> => raceWithAbort(this.#callBinding(call).catch(rethrowCoded), signal);
    return withRetries(attempt, this.#ports, signal);
  }
}

function targetOf(target: ActorTarget): BindingCall["target"] {
  if ("actorId" in target) return target;
  const { name, key, mode, input, region } = target;
  if (mode === "get") return { name, key, creation: { mode } };
  return { name, key, creation: { mode, ...inputOf(input) }, ...(region !== undefined && { region }) };
}

function inputOf(input: unknown): { input?: Uint8Array } {
  return input === undefined ? {} : { input: encodeValue(input, { what: "the input" }) };
}

/** An error without a code is masked as on the wire; here its cause is at hand too. */
function rethrowCoded(error: unknown): never {
  if (ActorError.isActorError(error)) throw error;
  const { data, status } = toErrorData(error);
  throw new ActorError(data.group, data.code, data.message, { statusCode: status, public: true, cause: error });
}
