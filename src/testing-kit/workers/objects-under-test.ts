import { testAccess } from "../../durable-object/index.js";
import { ObjectTime } from "./object-time.js";
import { withDoubles } from "./steps.js";

const times = new Map<string, ObjectTime>();

/** The time of the object with this id. */
export function timeOf(objectId: string): ObjectTime {
  let time = times.get(objectId);
  if (!time) times.set(objectId, (time = new ObjectTime()));
  return time;
}

// Objects that start once a test has imported this have a clock that it can move.
testAccess.alterPorts = (ports) => {
  const time = timeOf(ports.objectId);
  return withDoubles(time.portsOf(ports), () => time.changed());
};
