/** Reads a revision as people and headers write it; null = none. */
export function readRevision(written: string): number | null {
  const revision = Number(written);
  return DIGITS.test(written) && Number.isSafeInteger(revision) ? revision : null;
}

/** Most digits of an exact number. */
const DIGITS = /^\d{1,16}$/;
