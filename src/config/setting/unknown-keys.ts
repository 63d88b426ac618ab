import { didYouMean } from '../../base/input/nearest-name.js';
import type { ConfigPath, Findings } from './findings.js';

/** Adds a mistake for each key, at its own line. */
export function addUnknownKeys(
  unknown: readonly string[],
  known: readonly string[],
  at: ConfigPath,
  findings: Findings,
): void {
  const allowed = known.join(', ');
  for (const key of unknown) {
    const remedy = gluedRemedy(key) || didYouMean(key, known) || `Known keys here: ${allowed}.`;
    const options = { part: 'key', writtenAt: [...at, key] } as const;
    findings.add([...at, shownKey(key)], { problem: 'is not a known key', allowed, remedy }, options);
  }
}

/**
 * Cuts a key at its colon: without a blank behind the colon YAML takes the value, maybe a secret, for a part of the
 * key.
 */
export function shownKey(key: string): string {
  return key.replace(/:.*$/s, ':…');
}

export function gluedRemedy(key: string): string {
  return key.includes(':') ? 'Put a blank behind the colon.' : '';
}
