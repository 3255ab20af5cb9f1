import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ActorError,
  checkActorName,
  checkKey,
  formatJsonKey,
  formatLegacyKey,
  formatRestKey,
  normalizeKey,
  objectName,
  parseJsonKey,
  parseLegacyKey,
  parseObjectName,
  parseRestKey,
} from "../../src/protocol/index.js";
import { anyString } from "./arbitrary-values.js";

/** Short parts made of the characters that the formats escape: they collide far more often than random strings. */
const trickyPart = fc.string({
  unit: fc.constantFrom("a", ",", "/", "\\", "0", '"', "[", "]", "é", "\n", " "),
  maxLength: 4,
});
const anyKeyParts = fc.array(fc.oneof(trickyPart, anyString), { maxLength: 4 });
const trickyKey = fc.array(trickyPart, { maxLength: 4 });

/** "group/code" of what `act` throws. */
function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (!ActorError.isActorError(error)) throw error;
    return error.statusCode === 400 ? `${error.group}/${error.code}` : `status ${error.statusCode}`;
  }
  return "nothing thrown";
}

describe("the unambiguous forms of a key", () => {
  it("never meet for different keys", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(trickyKey, { minLength: 40, maxLength: 60, selector: (key) => JSON.stringify(key) }),
        (keys) => {
          for (const form of [(key: string[]) => objectName("a", key), formatJsonKey, formatRestKey]) {
            expect(new Set(keys.map(form)).size).toBe(keys.length);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("are read back as they were written", () => {
    fc.assert(
      fc.property(anyString, anyKeyParts, (name, key) => {
        expect(parseObjectName(objectName(name, key))).toEqual({ name, key });
        expect(parseJsonKey(formatJsonKey(key))).toEqual(key);
        expect(parseRestKey(formatRestKey(key))).toEqual(key);
      }),
      { numRuns: 700 },
    );
  });

  it("keep apart what the comma form mixes up", () => {
    const keys = [["a/b", "c"], ["a", "b/c"], ["a,b"], ["a", "b"], ["é\n"], [""], [], ["", ""], ["\\0"], ["0"], ["/"]];
    for (const form of [(key: string[]) => objectName("n", key), formatJsonKey, formatRestKey]) {
      expect(new Set(keys.map(form)).size).toBe(keys.length);
    }
    expect(formatLegacyKey(["a,b"])).toBe(formatLegacyKey(["a", "b"]));
  });
});

describe("objectName", () => {
  it("keeps the name apart from the key", () => {
    expect(objectName("a", ["b"])).toBe('["a","b"]');
    expect(objectName("a", ["b"])).not.toBe(objectName("a,b", []));
  });

  it("is read back from nothing but its own text", () => {
    for (const text of ["", "x", "[]", "{}", "[1]", '["a",1]', '[ "a" ]', '["a"', "null", '["\\u0061"]']) {
      expect(parseObjectName(text)).toBeUndefined();
    }
  });
});

describe("the legacy form", () => {
  it("joins the parts by commas", () => {
    expect(formatLegacyKey(["a", "b"])).toBe("a,b");
    expect(parseLegacyKey("a,b,c/d,,é")).toEqual(["a", "b", "c/d", "", "é"]);
    expect(parseLegacyKey("")).toEqual([]);
  });
});

describe("the JSON form", () => {
  it.each(["", "a", "{}", "[1]", '["a",null]', '["a"', '"a"', "[[]]"])("refuses %j", (text) => {
    expect(codeOf(() => parseJsonKey(text))).toBe("guard/query_invalid_params");
  });
});

describe("the REST form", () => {
  it("is the one that was captured from the published client", () => {
    expect(formatRestKey(["a,b", "c/d", "", "é"])).toBe("a,b/c\\/d/\\0/é");
    expect(formatRestKey([])).toBe("/");
    expect(formatRestKey([""])).toBe("\\0");
    expect(formatRestKey(["\\0"])).toBe("\\\\0");
  });

  it("takes parts that are empty without the mark for it, and an empty text for the empty key", () => {
    expect(parseRestKey("")).toEqual([]);
    expect(parseRestKey("a//b/")).toEqual(["a", "", "b", ""]);
    expect(parseRestKey("/a")).toEqual(["", "a"]);
  });

  it.each(["\\", "a\\", "\\n", "a\\0", "\\0a", "x/\\", "\\\\\\"])("refuses %j", (text) => {
    expect(codeOf(() => parseRestKey(text))).toBe("guard/query_invalid_params");
  });
});

describe("normalizeKey", () => {
  it("makes an array of parts of whatever a user writes", () => {
    expect(normalizeKey(undefined)).toEqual([]);
    expect(normalizeKey("a")).toEqual(["a"]);
    const key = ["a", "b"];
    expect(normalizeKey(key)).toEqual(key);
    expect(normalizeKey(key)).not.toBe(key);
  });

  it.each([1, null, {}, ["a", 1], [undefined]])("refuses %j", (key) => {
    expect(codeOf(() => normalizeKey(key as string))).toBe("actor/invalid_key");
  });
});

describe("checkKey", () => {
  it("takes the empty key, empty parts, and parts and keys of exactly the limit", () => {
    for (const key of [
      [],
      [""],
      ["é".repeat(64)],
      ["x".repeat(128)],
      [...Array<string>(7).fill("x".repeat(128)), "x".repeat(121)],
    ]) {
      expect(() => checkKey(key)).not.toThrow();
    }
  });

  it("refuses a part of 129 bytes, and a key of 1025", () => {
    expect(codeOf(() => checkKey(["x".repeat(129)]))).toBe("actor/key_too_large");
    expect(codeOf(() => checkKey([`é`.repeat(65)]))).toBe("actor/key_too_large");
    expect(codeOf(() => checkKey([...Array<string>(7).fill("x".repeat(128)), "x".repeat(122)]))).toBe(
      "actor/key_too_large",
    );
    expect(codeOf(() => checkKey(Array<string>(1026).fill("")))).toBe("actor/key_too_large");
  });

  it("refuses what is no well-formed text", () => {
    for (const key of [[1], ["\ud800"], ["a\udc00b"], "a", undefined]) {
      expect(codeOf(() => checkKey(key as string[]))).toBe("actor/invalid_key");
    }
  });
});

describe("checkActorName", () => {
  it("takes 1 to 64 bytes of any well-formed text", () => {
    for (const name of ["a", "my-actor", "é".repeat(32), "x".repeat(64)])
      expect(() => checkActorName(name)).not.toThrow();
    for (const name of ["", "x".repeat(65), "é".repeat(33), "\ud800", 1 as unknown as string]) {
      expect(codeOf(() => checkActorName(name))).toBe("actor/invalid_name");
    }
  });
});
