import { expect, test, vi } from "vitest";
import { assertUnreachable, stringifyError } from "../../src/protocol/index.js";
import { promiseWithResolvers } from "../../src/timing/index.js";
import { toUint8Array } from "../../src/protocol/index.js";

test("an error is told with its stack and its causes, once each", () => {
  const root = new TypeError("root");
  const error = new Error("outer", { cause: root });
  expect(stringifyError(error)).toBe(`${error.stack}\nCaused by: ${root.stack}`);
  root.cause = error;
  expect(stringifyError(error).match(/outer/g)?.length).toBe(error.stack?.match(/outer/g)?.length);
});

test("anything else that was thrown is told as well, whatever it is", () => {
  expect(stringifyError("text")).toBe("text");
  expect(stringifyError({ code: 7 })).toBe('{"code":7}');
  expect(stringifyError(undefined)).toBe("undefined");
  expect(stringifyError(null)).toBe("null");
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  expect(stringifyError(circular)).toBe("An error that cannot be shown");
});

test("a promise is settled from outside; its rejection is told, and never unhandled", async () => {
  const onReject = vi.fn<(reason: unknown) => void>();
  const { promise, resolve } = promiseWithResolvers<number>();
  resolve(5);
  expect(await promise).toBe(5);
  const failed = promiseWithResolvers<number>(onReject);
  failed.reject("no");
  await expect(failed.promise).rejects.toBe("no");
  expect(onReject).toHaveBeenCalledExactlyOnceWith("no");
});

test("an unreachable case names its value", () => {
  expect(() => assertUnreachable({ kind: "square" } as never)).toThrow('No case for {"kind":"square"}');
});

test("bytes are those of the view, not of its buffer, and not copied", () => {
  const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
  expect([...toUint8Array(new DataView(buffer, 1, 2))]).toEqual([2, 3]);
  expect(toUint8Array(buffer).buffer).toBe(buffer);
  const bytes = new Uint8Array(buffer, 2);
  expect(toUint8Array(bytes)).toBe(bytes);
  expect(() => toUint8Array("text" as never)).toThrow(TypeError);
});
