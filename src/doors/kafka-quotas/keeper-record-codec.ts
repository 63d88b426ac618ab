import { z } from 'zod';
import { QUOTA_NAMES } from '../../core/beside/kafka-quotas/entity.js';
import type { KeeperRecord } from '../../core/beside/kafka-quotas/keeper-record.js';

const name = z.string().min(1).max(512);
const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Records of a keeper; unknown fields are ignored. */
const RECORD = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('keeper'),
    id: name,
    life: name,
    sequence: count,
    stamp: z.string().max(64),
    isLeaving: z.boolean(),
  }),
  z.object({ kind: z.literal('writer'), term: count, id: name, life: name }),
  z.object({
    kind: z.literal('limit'),
    term: count,
    id: name,
    life: name,
    entity: z.object({ user: name.nullable(), clientId: name.nullable() }),
    name: z.enum(QUOTA_NAMES),
    value: amount,
    earlier: z.array(amount).max(64),
    formerTerms: z.array(amount).max(64),
    // Any value of an operator.
    original: z.number().nullable(),
  }),
]);

const VALUE_BYTES_MAX = 65_536;

/**
 * Encodes a record as JSON, readable by Kafka's console tools. It names the cluster, so that two clusters on one topic
 * by mistake ignore each other.
 */
export function encodeKeeperRecord(cluster: string, record: KeeperRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ cluster, ...record }));
}

/** Decodes a record; null = of no keeper of this cluster. */
export function decodeKeeperRecord(cluster: string, value: Uint8Array): KeeperRecord | null {
  if (value.byteLength > VALUE_BYTES_MAX) return null;
  try {
    const said: unknown = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8'));
    if ((said as { readonly cluster?: unknown } | null)?.cluster !== cluster) return null;
    const read = RECORD.safeParse(said);
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
