import type { WrittenBucket } from './story.js';

const KEYS_PER_TEMPLATE = 2;
const SECONDS = { Second: 1, Minute: 60, Hour: 3600, Day: 86_400 };

export function perSecondOf({ quota, per }: WrittenBucket): number {
  return quota / SECONDS[per];
}

/** Returns the depth by docs/guide/tokens.md: most of 100 ms, 3·√quota, 10 messages; ≤ 1 s or 10 messages. */
export function depthOf({ quota, per, burst }: WrittenBucket): number {
  if (burst !== null) return burst;
  if (per !== 'Second') return quota;
  return Math.min(Math.max(quota / 10, 3 * Math.sqrt(quota), 10), Math.max(quota, 10));
}

/** Tests for quotas in whole requests, by docs/guide/tokens.md. */
export function isInPieces(bucket: WrittenBucket, nodes: number): boolean {
  const perSecond = perSecondOf(bucket);
  if (perSecond > 10 * nodes || perSecond > 150) return false;
  return depthOf(bucket) < 4 * nodes || perSecond <= 3 * nodes;
}

/** Lists names for requests. */
export function namesOf(bucket: WrittenBucket, at: number): readonly string[] {
  if (!bucket.isKey) return [`group-${at}`];
  return Array.from({ length: KEYS_PER_TEMPLATE }, (_, key) => `key-${at}:${key}`);
}

/** Writes `groups` and `keys` of node.yaml. */
export function writtenConfig(buckets: readonly WrittenBucket[]): { readonly groups: object; readonly keys: object } {
  const entries = buckets.map((bucket, at) => {
    const { quota, per, burst, isKey } = bucket;
    const written = {
      quota: { publish: { messagesPerSecond: `${quota}/${per.toLowerCase()}` } },
      maxRequest: { messages: REQUEST_MAX },
      ...(burst === null ? {} : { burst }),
    };
    return { isKey, name: isKey ? `key-${at}:{id}` : `group-${at}`, written };
  });
  const of = (areKeys: boolean) =>
    Object.fromEntries(entries.filter(({ isKey }) => isKey === areKeys).map(({ name, written }) => [name, written]));
  return { groups: of(false), keys: of(true) };
}

/** More than any bucket holds. */
const REQUEST_MAX = 1_000_000;
