const PRODUCE = 0;
const FETCH = 1;
const METADATA = 3;
/** From these versions on an answer begins with the tags of its header, one byte where there are none. */
const FLEXIBLE: ReadonlyMap<number, number> = new Map([
  [FETCH, 12],
  [METADATA, 9],
]);
const BYTES = 4;

/**
 * Reads for how many milliseconds the broker will read nothing of this connection, because its client is above a quota.
 * It answers first, and is silent then. 0 = not throttled, or an answer that tells no such time.
 */
export function throttleTimeMs(apiKey: number, apiVersion: number, answer: Buffer): number {
  if (apiKey !== PRODUCE && apiKey !== FETCH && apiKey !== METADATA) return 0;
  const flexibleFrom = FLEXIBLE.get(apiKey) ?? Infinity;
  const at = apiKey === PRODUCE ? answer.length - BYTES : apiVersion >= flexibleFrom ? 1 : 0;
  if (at < 0 || answer.length < at + BYTES) return 0;
  return Math.max(0, answer.readInt32BE(at));
}
