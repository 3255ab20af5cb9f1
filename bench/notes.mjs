// Why a goal is missed, by the name of its figure, and its unit where it has several ("write, rows"): written by hand for
// docs/speed.md, which shows those of the goals that are missed and no others. Looked through whenever the page is written.

const CALL =
  "In the object an action takes 15 to 40 µs more than by hand. The rest is in the Worker: an address in the query instead of " +
  "a path, the caller's headers carried to the object, limits, CORS and names checked, one more header in the answer.";
const SOCKET =
  "In the object a frame that reads takes about 20 µs of the processor, one that writes 27 to 50. Not taken apart further yet.";
const SIZE =
  "All sentences of errors together are 9.6 KiB of it, croner 10.3, Hono 5.6; without all of these it would be above 80. The " +
  "state that refuses what cannot be stored is 10.7, the client with which actors call one another 8.4, connections 6.1, queues " +
  "4.4, schedules 4.1, values by key 1.5: members that every actor has without an import.";

/** @type {Readonly<Record<string, string>>} */
export const NOTES = {
  "write, Node's fetch": CALL,
  "write, CPU": CALL,
  "read, Node's fetch": CALL,
  "read, CPU": CALL,
  "write over a socket": SOCKET,
  "write over a socket, 32 in flight": SOCKET,
  "read over a socket": SOCKET,
  "open 1,000 sockets":
    "Each of ours is told who it is, subscribes with a message of its own and keeps its subscription in its attachment; by hand " +
    "there is neither. The envelope goes to the object in a header, and the subprotocol takes a second Response.",
  "message, Node's fetch":
    "It is taken by a workflow, which writes an entry, and it is decoded in the Worker first. Not taken apart further yet.",
  "message from inside":
    "In a profile the send is 8 % and the taking 8 %; the rest is the engine, garbage and three commits. Not taken apart further yet.",
  "a step of 1,000, by hand with the disk each":
    "The first hundreds of operations are made 25 at a time, each of which ends with a write to the disk, until the pace has " +
    "seen that they are cheap; a run of 10,000 reaches the goal.",
  "a step of 1,000, by hand with the disk once": "As above.",
  "a step of 10,000, by hand with the disk each": "At the goal within the noise of the runs.",
  "loop iteration": "The processor takes as long as by hand; what else there is was not taken apart yet.",
  "the last of 500 sleepers":
    "Each wake has two fsyncs, by hand three, and about half as much of the processor again. Not taken apart further yet.",
  "start with 10,000 entries and move":
    "Reading the entries takes 6 to 10 ms of it in Node; the rest is the replay. Not taken apart further yet.",
  "cold start, minified":
    "Compiling 330 KB of code instead of 1.5; nothing of ours that runs at import stands out in a profile.",
  "Worker: counter": SIZE,
  "Worker: counter, workflow, db": SIZE,
  "client, JSON only": "Connections with their reconnects are 4.5 of it, the handles 2.3, the transport 1.3.",
  "client with CBOR and BARE":
    "In chunks it compresses worse than in one file (28.2), which is the price for those who need no codec.",
};
