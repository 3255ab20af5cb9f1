// The web standards that the pure folders may use, declared one by one: `lib` ES2023 has none, and `lib` DOM has too many.

interface TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}
declare var TextEncoder: { prototype: TextEncoder; new (): TextEncoder };

interface TextDecoder {
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}
declare var TextDecoder: {
  prototype: TextDecoder;
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
declare var AbortSignal: { prototype: AbortSignal; abort(reason?: unknown): AbortSignal };

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { prototype: AbortController; new (): AbortController };

interface URLSearchParams {
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  delete(name: string): void;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}
declare var URLSearchParams: {
  prototype: URLSearchParams;
  new (init?: string | Record<string, string> | Iterable<readonly [string, string]>): URLSearchParams;
};

interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
}
declare var URL: { prototype: URL; new (url: string | URL, base?: string | URL): URL; canParse(url: string): boolean };

interface Headers {
  get(name: string): string | null;
  has(name: string): boolean;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  set(name: string, value: string): void;
  delete(name: string): void;
}

interface ReadableStreamDefaultReader {
  read(): Promise<{ done: false; value: unknown } | { done: true; value?: undefined }>;
  cancel(reason?: unknown): Promise<void>;
}
interface ReadableStream {
  getReader(): ReadableStreamDefaultReader;
  cancel(reason?: unknown): Promise<void>;
}
interface ReadableStreamDefaultController {
  enqueue(chunk: Uint8Array): void;
  close(): void;
  error(reason?: unknown): void;
}
declare var ReadableStream: {
  prototype: ReadableStream;
  new (
    source: {
      start?(controller: ReadableStreamDefaultController): void;
      pull?(controller: ReadableStreamDefaultController): void | Promise<void>;
      cancel?(reason?: unknown): void | Promise<void>;
    },
    strategy?: { highWaterMark?: number; size?(chunk?: Uint8Array): number },
  ): ReadableStream;
};

interface RequestInit {
  method?: string;
  headers?: [string, string][];
  signal?: AbortSignal | null;
}
interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}
declare var Request: { prototype: Request; new (url: string, init?: RequestInit): Request };

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream | null;
}
declare var Response: { prototype: Response; new (body?: ReadableStream | null, init?: Response): Response };

interface WebSocket {
  readonly readyState: number;
  send(data: string | ArrayBuffer | ArrayBufferView): void;
  close(code?: number, reason?: string): void;
}

declare function structuredClone<T>(value: T): T;
