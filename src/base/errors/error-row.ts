/**
 * The one catalogue of operating errors: code → message template, HTTP status or exit code, remedy.
 * Impossible states are not here: they are invariants (src/core/base/invariant.ts).
 * docs/reference/errors.md is generated from this table by `npm run docs`.
 */
export interface ErrorRow {
  /** `{name}` is replaced by the fact of that name. */
  readonly message: string;
  readonly remedy: string;
  readonly httpStatus?: number;
  readonly exitCode?: number;
}

export const EXIT_OK = 0;

export const EXIT_UNEXPECTED = 1;

export const EXIT_USAGE = 2;

export const EXIT_UNAVAILABLE = 69;

export const EXIT_CONFIG = 78;
