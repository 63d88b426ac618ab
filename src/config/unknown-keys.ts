import type { ConfigPath, Findings } from './findings.js';
import { didYouMean } from './nearest-name.js';

/** Each of them is a mistake at its own line. */
export function addUnknownKeys(
  unknown: readonly string[],
  known: readonly string[],
  at: ConfigPath,
  findings: Findings,
): void {
  const allowed = known.join(', ');
  for (const key of unknown) {
    const remedy = didYouMean(key, known) || `Known keys here: ${allowed}.`;
    findings.add([...at, key], { problem: 'is not a known key', allowed, remedy }, { part: 'key' });
  }
}
