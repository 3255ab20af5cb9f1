// Why a goal is missed, by the name of its figure, and its unit where it has several ("write, rows"): written by hand for
// docs/speed.md, which shows those of the goals that are missed and no others. Looked through whenever the page is written.

const CALL =
  "In the object an action takes 15 to 40 µs more than by hand. The rest is in the Worker: an address in the query instead of " +
  "a path, the caller's headers carried to the object, limits, CORS and names checked, one more header in the answer.";
const SOCKET =
  "With 32 in flight, in µs of the processor: a write by hand 114; in a transaction, so that rows cannot part, 136; the state " +
  "as bytes 139; in the frames of the protocol 149; as an async handler 158; ours 210. A read by hand 31, in the protocol's " +
  "frames 44, ours 44. So 52 are of ours and all of them are of the write: the state encoded and compared, the commit, the " +
  "checks before anything leaves.";
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
    "In µs of the processor for a socket: by hand 212; with a second Request that has the envelope in a header, and a second " +
    "Response, 222; with an attachment and a tag 213; with the frame that greets 293; with one that subscribes 346; ours 462. " +
    "So the two frames that RivetKit's protocol has and an object by hand has not are 134, the code of ours 116: routing, " +
    "admission, the connection, and two commits of its attachment. Header and Response cost nothing that could be measured.",
  "message, Node's fetch":
    "It is taken by a workflow, which writes an entry in three transactions and moves the alarm twice, and it is decoded in the " +
    "Worker first. Since this run a wait of 55 µs of the processor for each message is gone, about 6 % of one.",
  "message from inside":
    "In a profile the send is 8 % and the taking 8 %; the rest is the engine, garbage and three commits. Not taken apart further yet.",
  "a step of 1,000, by hand with the disk each":
    "The first hundreds of operations are made 25 at a time, each of which ends with a write to the disk, until the pace has " +
    "seen that they are cheap; a run of 10,000 reaches the goal.",
  "a step of 1,000, by hand with the disk once": "As above.",
  "a step of 10,000, by hand with the disk each": "At the goal within the noise of the runs.",
  "loop iteration":
    "The processor has 46 of the 61 µs, by hand 64; a yield of a millisecond after at most 100 operations, for other " +
    "events, is 10 to 20 for an iteration.",
  "the last of 500 sleepers":
    "By hand it looks at the clock before it writes anything, after 66 µs of one wake each; ours does in a step, which has begun " +
    "by then. A wake of ours is 3 transactions (32 µs), 3 puts (32), 2 alarms (46), garbage and the runtime (43), and about 100 " +
    "of our code: the lease, the sleep that has ended, the step, its commit, the next wait and its alarm. The lease before " +
    "user code runs, so that whoever kills the object is found, is one of the transactions and one of the alarms, 35 to 40. It " +
    "could wait for the end of the wake only if a crash in it went unnoticed by a start that no alarm causes. Since this run a " +
    "wait of 55 µs of the processor for each wake is gone.",
  "start with 10,000 entries and move":
    "The platform reads the rows in 9.5 ms, as long as by hand; heads are decoded and put into the tree in 7, the replay took 26 " +
    "(now 20: 2 µs an operation), garbage 8. The rest was waiting: 102 yields of a millisecond, one for each 100 operations. " +
    "Since this run a replay goes up to 1,000, which is 15 yields: 187 ms became 92 in turns on a busy machine.",
  "cold start, minified":
    "In ms of the processor until it listens: by hand 15.7; with our code as a text that is not run 18.1; as a function that is " +
    "never called, so that it is only scanned, 30.5; ours 46.1, of which 3 to 5 are for what runs at import and the rest for " +
    "compiling it. Then the first call takes 12 instead of 3.2: each function is compiled when it is first called, and an actor " +
    "is created. By bytes alone an object by hand with as much code, none of it used, takes 1.8 times as long: the goal " +
    "asks for half of the bytes.",
  "Worker: counter": SIZE,
  "Worker: counter, workflow, db": SIZE,
  "client, JSON only": "Connections with their reconnects are 4.5 of it, the handles 2.3, the transport 1.3.",
  "client with CBOR and BARE":
    "In chunks it compresses worse than in one file (28.2), which is the price for those who need no codec.",
};
