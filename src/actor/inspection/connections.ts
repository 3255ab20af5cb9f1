import { decodeRow, decodeValue } from "../../protocol/index.js";
import type { Socket } from "../ports.js";
import type { InspectedActor } from "./inspected-actor.js";

/** A connection by its open socket, as of the last commit. */
export interface InspectedConnection {
  readonly id: string;
  readonly kind: string;
  readonly params?: unknown;
  readonly state?: unknown;
  /** The names of the events it is subscribed to. */
  readonly events: readonly string[];
  readonly isHibernatable: boolean;
  /** When it last sent a ping, epoch ms. */
  readonly lastPingAt?: number;
}

/** What a socket's attachment holds. */
interface Attachment {
  readonly actorId: string;
  readonly id: string;
  readonly kind: string;
  readonly params?: unknown;
  readonly state?: Uint8Array;
  readonly events: readonly string[];
  readonly hibernates: boolean;
}

export function connectionsOf(actor: InspectedActor): { readonly items: readonly InspectedConnection[] } {
  const items = openSockets(actor).map(({ socket, attached }): InspectedConnection => {
    const { id, kind, params, state, events, hibernates } = attached;
    const { lastPingAt } = socket;
    return {
      id,
      kind,
      ...(params !== undefined && { params }),
      ...(state && { state: decodeValue(state) }),
      events: [...events],
      isHibernatable: hibernates,
      ...(lastPingAt !== undefined && { lastPingAt }),
    };
  });
  return { items };
}

/** The open sockets of the actor's connections. Those of an earlier life of its key are not. */
export function openSockets({ ports, record }: InspectedActor): { socket: Socket; attached: Attachment }[] {
  return [...ports.sockets()].flatMap((socket) => {
    const attached = attachmentOf(socket);
    return attached?.actorId === record.actorId ? { socket, attached } : [];
  });
}

function attachmentOf({ attachment }: Socket): Attachment | undefined {
  try {
    return attachment?.byteLength ? (decodeRow(attachment) as Attachment) : undefined;
  } catch {
    return undefined;
  }
}
