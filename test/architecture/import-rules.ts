// Who may import whom: the one table. `npm run lint-config` writes it into .oxlintrc.json, for editors; import-walk.ts checks
// it with reasons. A room is a folder inside a folder of src; "." are the files directly in it.

/** What may be taken of another folder or of a package. */
export type Access = {
  /** The files of the folder, `index` if left out. */
  readonly files?: readonly string[];
  readonly typesOnly?: true;
  /** The rooms that may take values of it, if not all of them: the others take types. */
  readonly valuesIn?: readonly string[];
  /** The only file that may. */
  readonly onlyIn?: string;
};

export type Room = {
  /** What the room owns. */
  readonly why: string;
  /** The rooms of its folder that it may import: each stands before it in the table, and each is used. */
  readonly imports: readonly string[];
  /** It is a capability that a Worker has only if it imports it: no other room imports this one. */
  readonly isPart?: true;
  /** The files of the room do not import each other. */
  readonly areSeparate?: true;
};

export type Folder = {
  readonly why: string;
  /** Other folders it may import. */
  readonly folders: Readonly<Record<string, Access>>;
  /** Packages and platform modules, by the start of their name. */
  readonly packages?: Readonly<Record<string, Access>>;
  /** It reads no clock, sets no timer, draws no id, and knows no platform. */
  readonly isPure?: true;
  /** From the ground up. */
  readonly rooms: Readonly<Record<string, Room>>;
  /** Files directly in the folder that stand above all its rooms, beside `index` and `internal`; no room imports one. */
  readonly tops?: readonly string[];
};

const INDEX_AND_PORTS = ["index", "ports"];

export const FOLDERS: Readonly<Record<string, Folder>> = {
  protocol: {
    why: "protocol/ is what crosses a wire or a disk, and depends on nothing",
    folders: {},
    isPure: true,
    tops: ["page"],
    rooms: {
      ".": { why: "what every room reads: limits, options, versions and the own properties of objects", imports: [] },
      errors: { why: "errors with codes, and the table of all codes", imports: ["."] },
      values: { why: "which values can be stored and sent, and how large they are", imports: [".", "errors"] },
      cbor: { why: "one pass of CBOR each way, bounded in depth, bytes and work", imports: [".", "errors", "values"] },
      codecs: {
        why: "values as bytes and text: rows of storage, CBOR and JSON of the wire",
        imports: [".", "errors", "values", "cbor"],
      },
      messages: {
        why: "messages between client and server, in each encoding",
        imports: [".", "errors", "values", "codecs"],
      },
      addressing: {
        why: "which actor is meant: keys, ids and the envelope of a call",
        imports: [".", "errors", "values", "codecs", "messages"],
      },
    },
  },
  timing: {
    why: "timing/ is functions of time for any program, and depends on nothing",
    folders: {},
    rooms: { ".": { why: "sleeping, intervals, joined signals and timeouts of any length", imports: [] } },
  },
  workflow: {
    why: "the engine knows no platform, not even for types",
    folders: { protocol: {} },
    isPure: true,
    rooms: {
      history: { why: "what a workflow has recorded, as entries in a tree of names", imports: [] },
      ".": { why: "scopes, steps, branches, retries and undoing: what all operations share", imports: ["history"] },
      ops: {
        why: "one file for each primitive: its entry, its replay, its live behaviour",
        imports: ["history", "."],
        areSeparate: true,
      },
    },
    tops: ["context", "restart", "run"],
  },
  actor: {
    why: "the actor runtime knows no platform, and only its part of that name runs the workflow engine",
    folders: { protocol: {}, workflow: { valuesIn: ["workflow"] } },
    packages: { croner: {} },
    isPure: true,
    rooms: {
      ".": { why: "ports: what the platform does for an actor", imports: [] },
      state: { why: "views that keep state storable at every moment", imports: [] },
      storage: { why: "rows, the dirty set, the alarm and the lease", imports: ["."] },
      api: { why: "the types users see", imports: [".", "storage"] },
      definition: { why: "actor() and setup(): what users declare, checked", imports: [".", "api"] },
      activation: {
        why: "what all parts of one life in memory share",
        imports: [".", "state", "storage", "api", "definition"],
      },
      queue: {
        why: "messages, their receivers and the senders that wait",
        imports: [".", "storage", "api", "definition", "activation"],
      },
      kv: { why: "c.kv", imports: [".", "storage", "api", "activation"] },
      callbacks: {
        why: "running user code: contexts, deadlines, commits and failures",
        imports: [".", "state", "storage", "api", "definition", "activation", "queue"],
      },
      schedule: { why: "c.schedule and c.cron", imports: ["storage", "api", "activation", "callbacks"] },
      connections: {
        why: "callers that come and go",
        imports: [".", "state", "storage", "api", "definition", "activation", "callbacks"],
      },
      lifecycle: {
        why: "how a life begins, sleeps and ends",
        imports: [
          ".",
          "state",
          "storage",
          "api",
          "definition",
          "activation",
          "queue",
          "kv",
          "callbacks",
          "schedule",
          "connections",
        ],
      },
      workflow: {
        why: "the part that runs workflow(): the engine, bound to an actor",
        imports: [".", "state", "storage", "api", "definition", "activation", "callbacks"],
        isPart: true,
      },
      sql: {
        why: "the part behind c.db: SQL on the actor's own database",
        imports: [".", "storage", "api", "definition", "activation"],
        isPart: true,
      },
      inspection: {
        why: "the object's side of the inspector: an actor as it is stored, below its start gate",
        imports: [".", "storage", "api", "definition", "activation", "queue", "kv", "callbacks"],
        isPart: true,
      },
    },
  },
  logging: {
    why: "logging/ writes log lines to the console, and knows nothing of who logs but the form of a line",
    folders: { protocol: {}, actor: { typesOnly: true } },
    rooms: { ".": { why: "the console as a log, and the loggers users configure", imports: [] } },
  },
  "durable-object": {
    why: "the shell is the only folder bound to the platform, and knows nobody who calls it",
    folders: { protocol: {}, actor: {} },
    packages: { "cloudflare:": {} },
    rooms: { ".": { why: "the object class, its storage, alarms and sockets", imports: [] } },
  },
  router: {
    why: "the router holds no state and no actor code; an object is a structural type of its own",
    folders: { protocol: {} },
    packages: { hono: {} },
    rooms: {
      request: { why: "reading one request and writing one answer", imports: [] },
      objects: { why: "finding an object and calling it", imports: ["request"] },
      routes: { why: "which path does what, for whom", imports: ["request", "objects"] },
      inspector: {
        why: "the Worker's side of the inspector: its routes, and who may use them",
        imports: ["request", "objects", "routes"],
        isPart: true,
      },
    },
  },
  client: {
    why: "the client is what browsers download: protocol code and types, nothing of the server",
    // The binary codecs by themselves: a page loads them on demand.
    folders: {
      protocol: { files: ["index", "page", "messages/cbor-codec", "messages/bare-codec"] },
      actor: { files: ["index", "api/client-types"], typesOnly: true },
    },
    tops: ["binding", "in-process"],
    rooms: {
      config: { why: "what a client is configured with, and its errors", imports: [] },
      transport: { why: "calls over HTTP and over the binding", imports: ["config"] },
      connection: { why: "one connection: its states, calls and events", imports: ["config"] },
      handle: { why: "the typed client and its handles", imports: ["config", "transport", "connection"] },
    },
  },
  worker: {
    why: "worker/ joins router and client for whatever runs a registry, and knows no platform",
    folders: { protocol: {}, actor: {}, router: {}, client: { files: ["binding"] } },
    rooms: { ".": { why: "the router of a registry, and clients over the objects of a namespace", imports: [] } },
  },
  "inspector-page": {
    why: "the inspector's page runs in a browser and knows the Worker by its routes alone; no Worker imports it",
    folders: {
      protocol: { files: ["page"] },
      actor: {
        files: [
          "api/workflow-status",
          "inspection/audit",
          "inspection/connections",
          "inspection/history",
          "inspection/messages",
          "inspection/schedules",
          "inspection/stored-values",
          "inspection/summary",
          "inspection/tables",
        ],
        typesOnly: true,
      },
    },
    packages: { preact: {}, "@preact/signals": {} },
    tops: ["page"],
    rooms: {
      model: { why: "what is shown, worked out without a browser", imports: [] },
      store: { why: "what the page knows, read from the routes", imports: ["model"] },
      view: { why: "what stands on the page", imports: ["model", "store"] },
    },
  },
  drizzle: {
    why: "the drizzle provider is published beside the rest, for those who have drizzle-orm, and knows only what a provider is",
    folders: { actor: {} },
    packages: { "drizzle-orm": {} },
    rooms: { ".": { why: "drizzle-orm on the actor's database", imports: [] } },
  },
  testing: {
    why: "testing/ drives the pure core, and is published, so it brings no test runner",
    folders: { protocol: {}, workflow: { files: INDEX_AND_PORTS }, actor: { files: INDEX_AND_PORTS } },
    isPure: true,
    rooms: { ".": { why: "the memory store, the manual clock and the world in which actors crash", imports: [] } },
  },
  "testing-kit": {
    why: "testing-kit/ is what users test with, in Node: it drives the world of testing/ through router and client",
    folders: {
      protocol: {},
      workflow: {},
      actor: {},
      router: {},
      client: { files: ["in-process"] },
      worker: {},
      testing: {},
      "durable-object": { valuesIn: ["workers"] },
      logging: {},
    },
    packages: { "cloudflare:": {}, "node:": {}, ws: {} },
    tops: ["test-world", "crash-everywhere", "in-workerd", "over-http", "module-loading", "cloudflare-workers"],
    rooms: {
      world: { why: "the actors of a registry in this process, their client and their time", imports: [] },
      doubles: { why: "what stands in the place of steps' callbacks", imports: ["world"] },
      control: { why: "what a test does to actors, and sees of them", imports: ["world", "doubles"] },
      surroundings: { why: "what user code finds around it: the time, the network and env", imports: ["world"] },
      histories: { why: "histories of workflows as files, and their replay", imports: ["world", "surroundings"] },
      crashes: { why: "a workload disturbed at each of its commits", imports: ["world"] },
      loading: { why: "a Worker's files, loaded by Node and vitest", imports: ["surroundings"] },
      server: { why: "actors on the machine's clock, served at a loopback port", imports: ["world"] },
      workers: { why: "actors under test on the real runtime, inside workerd", imports: ["doubles", "control"] },
    },
  },
  lint: {
    why: "lint/ is loaded by a linter, which gives it everything: it imports no code of the package and no package",
    folders: {},
    rooms: {
      ".": { why: "the linter's API, and which code of a file is a workflow's", imports: [] },
      rules: { why: "one file for each rule", imports: ["."], areSeparate: true },
    },
    tops: ["plugin"],
  },
  entry: {
    why: "entries only put together what the folders' indexes offer",
    folders: {
      protocol: { files: ["index", "page"] },
      timing: {},
      workflow: {},
      actor: { files: ["index", "api/client-types"] },
      logging: {},
      "durable-object": {},
      router: {},
      client: { files: ["index", "binding"] },
      worker: {},
      drizzle: {},
      "testing-kit": { files: ["index", "in-workerd", "over-http", "module-loading", "cloudflare-workers"] },
      lint: {},
    },
    packages: { "cloudflare:": { onlyIn: "cloudflare" } },
    rooms: {
      ".": { why: "one file for each subpath of the package", imports: [] },
      db: { why: "the subpaths below perdure/db", imports: [] },
      testing: { why: "the subpaths below perdure/testing", imports: [] },
      unstable: { why: "the subpaths below perdure/unstable", imports: [] },
    },
  },
};

/** What tests may import, as paths in src. */
export const SHOWN_TO_TESTS = ["*/index.js", "*/binding.js", "*/ports.js", "*/internal.js", "testing/**", "entry/**"];

/** Tests of the workerd project, which alone can load the platform; and those of a user, which load what stands for it. */
export const WORKERD_TESTS = [
  "test/durable-object/**",
  "test/in-worker/**",
  "test/contract/key-value*.test.ts",
  "test/support/worker.ts",
  "test/support/worker/**",
  "test/package/worker-files/**",
  "test/package/in-workerd/**",
];
