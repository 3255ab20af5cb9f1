/**
 * SQL as far as it must be understood before it runs: where statements end, which parameters they have, and whether one of
 * them would end the transaction around it.
 *
 * The platform commits SQL and our own rows together, one turn at a time. `ROLLBACK` in any form (a statement, `INSERT OR
 * ROLLBACK`, `RAISE(ROLLBACK, …)` in a trigger, `ON CONFLICT ROLLBACK` in a table) would also roll back our rows of the turn, even
 * when caught, so the keyword is refused wherever SQLite would see it. In doubt the stricter reading applies: a
 * refused name can be quoted.
 */
import { ActorError } from "../../protocol/index.js";

export interface SqlStatement {
  /** Without its semicolon and the comments around it. */
  readonly text: string;
  readonly parameters: readonly SqlParameter[];
}

/** A parameter's place in its statement's text. */
interface SqlParameter {
  readonly start: number;
  readonly end: number;
  /** Of `:name`, `@name` and `$name`; `?` and `?1` have none. */
  readonly name?: string;
}

type TokenKind = "word" | "parameter" | "end" | "other";
interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

const OPENS_TRANSACTION = new Set(["begin", "commit", "end", "savepoint", "release"]);
/** Allowed around all statements of one string, which are atomic anyway. */
const FRAME = {
  begin: /^begin(\s+(deferred|immediate|exclusive))?(\s+transaction)?$/i,
  end: /^(commit|end)(\s+transaction)?$/i,
};
const SPACE = /[\s\uFEFF]/;
/** What SQLite takes for a letter, except for the spaces among them: a keyword beside one of those is also found. */
const WORD =
  /[A-Za-z_0-9$\u0080-\u009F\u00A1-\u167F\u1681-\u1FFF\u200B-\u2027\u202A-\u202E\u2030-\u205E\u2060-\u2FFF\u3001-\uFEFE\uFF00-\uFFFF]/;

/** What SQLite takes for a letter of a parameter's name, exactly. */
const NAME = /[A-Za-z_0-9$\u0080-\uFFFF]/;

/** @throws {sqlite/manual_transaction} {sqlite/invalid_sql} {sqlite/invalid_parameter} */
export function readSql(sql: unknown): SqlStatement[] {
  if (typeof sql !== "string") throw new ActorError("sqlite", "invalid_sql", "SQL must be a string");
  // SQLite stops reading at this character and would see less than this parser.
  if (sql.includes("\0")) throw new ActorError("sqlite", "invalid_sql", "SQL must not contain the character U+0000");
  const statements: SqlStatement[] = [];
  let tokens: Token[] = [];
  const close = (): void => {
    const [first] = tokens;
    const last = tokens.at(-1);
    if (first && last) statements.push(toStatement(sql, first.start, last.end, tokens));
    tokens = [];
  };
  const trigger = new TriggerReader();
  for (let at = 0; at < sql.length;) {
    const token = nextToken(sql, at);
    at = token.end;
    if (token.start === token.end) continue;
    const word = token.kind === "word" ? sql.slice(token.start, token.end).toLowerCase() : "";
    refuse(word);
    if (trigger.endsStatement(token.kind, word)) close();
    else tokens.push(token);
  }
  close();
  const framed =
    FRAME.begin.test(statements[0]?.text ?? "") && FRAME.end.test(statements.at(-1)?.text ?? "")
      ? statements.slice(1, -1)
      : statements;
  for (const { text } of framed) refuseTransaction(text);
  return framed;
}

/** The statement with `?` for every parameter, and their names in order. @throws {sqlite/invalid_parameter} when one has no name */
export function withoutNames({ text, parameters }: SqlStatement): {
  readonly text: string;
  readonly names: readonly string[];
} {
  let rewritten = "";
  let from = 0;
  const names: string[] = [];
  for (const { start, end, name } of parameters) {
    if (name === undefined)
      throw new ActorError("sqlite", "invalid_parameter", "A statement has either named parameters or `?`, not both");
    names.push(name);
    rewritten += `${text.slice(from, start)}?`;
    from = end;
  }
  return { text: rewritten + text.slice(from), names };
}

function refuse(word: string): void {
  if (word === "rollback") {
    const message =
      "ROLLBACK would undo more than this statement. Use `db.transaction`, or OR ABORT, RAISE(ABORT, …); put quotes around a name";
    throw new ActorError("sqlite", "manual_transaction", message);
  }
}

/** A statement's text begins with its first token. */
function refuseTransaction(text: string): void {
  const { start, end } = nextToken(text, 0);
  const word = text.slice(start, end).toLowerCase();
  if (!OPENS_TRANSACTION.has(word)) return;
  const message =
    `${word.toUpperCase()} is not for SQL text: use \`db.transaction(async (tx) => …)\`, or BEGIN and COMMIT ` +
    "around all of one text";
  throw new ActorError("sqlite", "manual_transaction", message);
}

/** Follows one statement: in `CREATE TRIGGER … BEGIN …; …; END`, only the semicolon after that END ends it. */
class TriggerReader {
  /** The statement's first words, as long as it may still be a trigger. */
  #head: "start" | "create" | "trigger" | "other" = "start";
  /** The last token in a trigger: a semicolon, or END after one. */
  #last: "semicolon" | "end" | "other" = "other";

  endsStatement(kind: TokenKind, word: string): boolean {
    if (kind === "end") {
      if (this.#head === "trigger" && this.#last !== "end") {
        this.#last = "semicolon";
        return false;
      }
      this.#head = "start";
      this.#last = "other";
      return true;
    }
    this.#head = headAfter(this.#head, word);
    this.#last = word === "end" && this.#last === "semicolon" ? "end" : "other";
    return false;
  }
}

function headAfter(
  head: "start" | "create" | "trigger" | "other",
  word: string,
): "start" | "create" | "trigger" | "other" {
  if (head === "start") return word === "create" ? "create" : /^(explain|query|plan)$/.test(word) ? "start" : "other";
  if (head === "create") return word === "trigger" ? "trigger" : /^temp(orary)?$/.test(word) ? "create" : "other";
  return head;
}

function toStatement(sql: string, from: number, to: number, tokens: readonly Token[]): SqlStatement {
  const parameters = tokens
    .filter((token) => token.kind === "parameter")
    .map(({ start, end }) => {
      const name = sql.slice(start + 1, end);
      return { start: start - from, end: end - from, ...(sql[start] === "?" ? {} : { name }) };
    });
  return { text: sql.slice(from, to), parameters };
}

/** The token at or after `at`; empty for whitespace and comments. */
function nextToken(sql: string, at: number): Token {
  const char = sql[at] ?? "";
  const next = sql[at + 1];
  const token = (kind: TokenKind, end: number): Token => ({ kind, start: at, end });
  const nothing = (end: number): Token => ({ kind: "other", start: end, end });
  if (SPACE.test(char)) return nothing(at + 1);
  if (char === "-" && next === "-") return nothing(after(sql, "\n", at + 2));
  if (char === "/" && next === "*") return nothing(after(sql, "*/", at + 2));
  if (char === ";") return token("end", at + 1);
  if (char === "'" || char === '"' || char === "`") return token("other", afterQuoted(sql, char, at));
  if (char === "[") return token("other", after(sql, "]", at + 1));
  if (char === "?") return token("parameter", afterAll(sql, /[0-9]/, at + 1));
  if (char === ":" || char === "@" || char === "$" || char === "#") {
    const end = afterParameter(sql, at);
    if (end > at + 1) return token("parameter", end);
  }
  if (WORD.test(char)) return token("word", afterAll(sql, WORD, at + 1));
  return token("other", at + 1);
}

function after(sql: string, text: string, from: number): number {
  const found = sql.indexOf(text, from);
  return found === -1 ? sql.length : found + text.length;
}

/** A doubled quote inside means the quote itself. */
function afterQuoted(sql: string, quote: string, at: number): number {
  let end = after(sql, quote, at + 1);
  while (sql[end] === quote) end = after(sql, quote, end + 1);
  return end;
}

/**
 * The end of a named parameter; `at + 1` if there is none. SQLite reads `$a(…)` as one parameter, whatever is in the
 * parentheses, in some builds: no statement may depend on that. @throws {sqlite/invalid_parameter}
 */
function afterParameter(sql: string, at: number): number {
  let end = at + 1;
  let isNamed = false;
  for (;;) {
    if (NAME.test(sql[end] ?? "")) {
      isNamed = true;
      end += 1;
    } else if (sql.startsWith("::", end)) end += 2;
    else break;
  }
  if (!isNamed) return at + 1;
  if (sql[end] === "(") throw new ActorError("sqlite", "invalid_parameter", "A parameter's name has no parentheses");
  return end;
}

function afterAll(sql: string, pattern: RegExp, from: number): number {
  let end = from;
  while (end < sql.length && pattern.test(sql[end] ?? "")) end += 1;
  return end;
}
