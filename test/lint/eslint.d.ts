// What the tests use of ESLint. Its own declarations name nodes of every language by packages that nothing else here needs.
declare module "eslint" {
  interface Case {
    readonly name?: string;
    readonly code: string;
  }
  interface BadCase extends Case {
    readonly errors: readonly { readonly messageId: string; readonly data?: Record<string, string> }[];
  }
  export class RuleTester {
    static describe: unknown;
    static it: unknown;
    run(
      name: string,
      rule: unknown,
      cases: { readonly valid: readonly Case[]; readonly invalid: readonly BadCase[] },
    ): void;
  }
  export class Linter {
    verify(
      code: string,
      config: unknown,
    ): { readonly ruleId: string | null; readonly line: number; readonly message: string }[];
  }
}
