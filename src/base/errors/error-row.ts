/**
 * Catalogue of operating errors: code → message template, status or exit code, remedy. Impossible states are invariants
 * (src/core/base/invariant.ts). docs/reference/errors.md is generated from it.
 */
export interface ErrorRow {
  /** Template; `{name}` is replaced by that fact. */
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
