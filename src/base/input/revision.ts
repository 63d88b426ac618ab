/** Reads a revision as people and headers write it; null = it is none. */
export function readRevision(written: string): number | null {
  const revision = Number(written);
  return DIGITS.test(written) && Number.isSafeInteger(revision) ? revision : null;
}

/** No exact number has more. */
const DIGITS = /^\d{1,16}$/;
