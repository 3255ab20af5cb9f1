import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSubprotocols, parseSubprotocols } from "../../src/protocol/index.js";

describe("the subprotocols of a socket", () => {
  test("are those of the published clients, and one of our own", () => {
    expect(formatSubprotocols({ encoding: "json", params: '{"t":1}' })).toEqual([
      "rivet",
      "rivet_encoding.json",
      "rivet_conn_params.%7B%22t%22%3A1%7D",
    ]);
    expect(
      formatSubprotocols({ encoding: "bare", token: "tok", isOwnClient: true, pings: false, others: ["chat"] }),
    ).toEqual(["rivet", "rivet_encoding.bare", "perdure_values.1", "rivet_token.tok", "chat"]);
    expect(formatSubprotocols({ encoding: "cbor", actorId: "x" })).toEqual([
      "rivet",
      "rivet_encoding.cbor",
      "rivet_target.actor",
      "rivet_actor.x",
    ]);
  });

  test("bring any params and token through, as tokens of HTTP", () => {
    const text = fc.string({ unit: "grapheme" }).filter((candidate) => candidate.isWellFormed());
    fc.assert(
      fc.property(text, text, (params, token) => {
        const offered = formatSubprotocols({
          encoding: "cbor",
          params,
          token,
          isOwnClient: true,
          pings: false,
          others: ["chat"],
        });
        for (const protocol of offered) expect(protocol).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
        const read = parseSubprotocols(offered.join(", "));
        expect(read).toEqual({
          encoding: "cbor",
          params,
          token,
          isOwnClient: true,
          pings: false,
          target: undefined,
          actorId: undefined,
          others: ["chat"],
        });
      }),
    );
  });

  test.each([null, "", "rivet", "rivet,rivet_skip_ready_wait,rivet_test_ack_hook.x,rivet_namespace.default"])(
    "of %j say only that it is JSON",
    (header) => {
      expect(parseSubprotocols(header)).toEqual({
        encoding: "json",
        params: undefined,
        token: undefined,
        isOwnClient: false,
        pings: false,
        target: undefined,
        actorId: undefined,
        others: [],
      });
    },
  );

  test("may come without spaces, and name the actor", () => {
    expect(parseSubprotocols("rivet,rivet_target.actor,rivet_actor.abc,rivet_encoding.bare")).toMatchObject({
      target: "actor",
      actorId: "abc",
      encoding: "bare",
      others: [],
    });
  });

  test("that cannot be read are refused", () => {
    expect(() => parseSubprotocols("rivet_encoding.xml")).toThrow(
      expect.objectContaining({ group: "encoding", code: "unsupported", statusCode: 400 }),
    );
    expect(() => parseSubprotocols("rivet_conn_params.%zz")).toThrow(
      expect.objectContaining({ group: "actor", code: "invalid_request" }),
    );
    expect(() => parseSubprotocols("rivet_token.%ff")).toThrow(
      expect.objectContaining({ group: "actor", code: "invalid_request" }),
    );
  });
});
