import { z } from 'zod';
import type { StrictRecord } from '../../core/strict/strict-record.js';

/** Version of what is written: another one is not read. */
const FORMAT = 'strict-1';
/** Lives, plans and former quotas that are read in one state. More: larger records. */
const LISTED_MAX = 10_000;

const whole = z.int();
const count = z.int().nonnegative();
const node = z.string().min(1).max(200);
const life = { node, life: count };
const rates = z.record(z.string().max(250), count);
const quota = z.strictObject({ amount: count, perMs: z.int().positive(), depth: count });
const holder = z.strictObject({ ...life, seq: count, readMs: count, want: count, taken: whole, hold: count });
const plan = z.strictObject({ fromMs: count, endMs: count.nullable(), lagMs: count, sum: count, rates });
const former = z.strictObject({ amount: count, depth: count, streamsEndMs: count });
const state = z.strictObject({
  nowMs: count,
  appendMs: whole.nullable(),
  quota,
  revision: count,
  former: z.array(former).max(LISTED_MAX),
  pool: count,
  holders: z.array(holder).max(LISTED_MAX),
  plans: z.array(plan).min(1).max(LISTED_MAX),
  ended: z.record(node, z.tuple([count, count])),
  lastAuthors: z.tuple([z.string().max(250), whole, whole]),
});
const record = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('claim'), ...life, seq: count, want: count, taken: whole, hold: count }),
  z.strictObject({ kind: z.literal('leave'), ...life, seq: count, taken: whole }),
  z.strictObject({ kind: z.literal('expire'), ...life, seq: count }),
  z.strictObject({ kind: z.literal('quota'), revision: count, amount: count, depth: count }),
  z.strictObject({ kind: z.literal('join'), ...life }),
  z.strictObject({ kind: z.literal('state'), ...life, at: whole, state }),
  z.strictObject({ kind: z.literal('found'), ...life, since: whole, quota, revision: count }),
]);
const envelope = z.strictObject({ format: z.literal(FORMAT), record });

export function encodeStrict(written: StrictRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ format: FORMAT, record: written }));
}

/** Returns null for what no node has written in this format. */
export function decodeStrict(value: Uint8Array): StrictRecord | null {
  try {
    return envelope.parse(JSON.parse(Buffer.from(value).toString())).record;
  } catch {
    return null;
  }
}

/** Keys a record: the newest of each author and kind is kept. */
export function strictKeyOf(lane: string, written: StrictRecord): string {
  const author = written.kind === 'quota' ? '' : `/${written.node}`;
  return `strict/${lane}/${written.kind}${author}`;
}

/** Tests if a key is one of this lane. */
export function isStrictKeyOf(lane: string, key: string): boolean {
  return key.startsWith(`strict/${lane}/`);
}
