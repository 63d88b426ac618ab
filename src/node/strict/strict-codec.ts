import { z } from 'zod';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import { recordKey, type StrictRecord, type StrictWritten } from '../../core/strict/strict-record.js';

/** Version of what is written: another one is not read. */
const FORMAT = 'strict-6';
/** Lives, plans and former quotas that are read in one state. More: larger records. */
const LISTED_MAX = 10_000;

const whole = z.int();
const count = z.int().nonnegative();
const node = z.string().min(1).max(200);
const life = { node, life: count };
const rates = z.record(z.string().max(250), count);
const quota = z.strictObject({
  amount: count,
  perMs: z.int().positive(),
  depth: count,
  slots: z.literal(true).optional(),
  budget: z.literal(true).optional(),
  keyed: z.literal(true).optional(),
});
const id = z.string().min(1).max(200);
const by = z.string().min(1).max(300);
const giver = z.string().min(1).max(200);
const untilMs = whole.nullable();
const budget = z.strictObject({
  period: z.strictObject({ fromMs: whole, untilMs }).nullable(),
  gone: count,
  former: count,
  late: count,
  lost: count,
  carried: count,
  credits: z.array(z.strictObject({ id, tokens: whole, asked: whole.nullable(), atMs: whole, giver })).max(LISTED_MAX),
});
const holder = z.strictObject({
  ...life,
  seq: count,
  readMs: count,
  want: count,
  lagMs: count,
  taken: whole,
  hold: count,
});
const plan = z.strictObject({ fromMs: count, endMs: count.nullable(), lagMs: count, sum: count, rates });
const former = z.strictObject({ amount: count, depth: count, streamsEndMs: count });
const state = z.strictObject({
  nowMs: count,
  appendMs: whole.nullable(),
  quota,
  revision: count,
  budget: budget.nullable(),
  former: z.array(former).max(LISTED_MAX),
  pool: count,
  holders: z.array(holder).max(LISTED_MAX),
  plans: z.array(plan).min(1).max(LISTED_MAX),
  ended: z.record(node, z.tuple([count, count])),
  lastOffset: whole,
});
const record = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('claim'),
    ...life,
    seq: count,
    want: count,
    lagMs: count,
    taken: whole,
    hold: count,
  }),
  z.strictObject({ kind: z.literal('leave'), ...life, seq: count, taken: whole }),
  z.strictObject({ kind: z.literal('expire'), ...life, seq: count }),
  z.strictObject({ kind: z.literal('quota'), revision: count, amount: count, depth: count, by: by.optional() }),
  z.strictObject({ kind: z.literal('period'), by, fromMs: whole, untilMs, carryMost: count }),
  z.strictObject({ kind: z.literal('credit'), by, id, untilMs, tokens: whole.nullable(), giver }),
  z.strictObject({ kind: z.literal('knew'), ...life, budget }),
  z.strictObject({ kind: z.literal('join'), ...life }),
  z.strictObject({ kind: z.literal('state'), ...life, at: whole, state }),
  z.strictObject({ kind: z.literal('found'), ...life, since: whole, state }),
  z.strictObject({ kind: z.literal('end'), by, at: whole }),
]);
const envelope = z.strictObject({ format: z.literal(FORMAT), epoch: z.string().max(1000), record });

/**
 * Names the log that the author has read: what is on its way while the log is replaced says nothing of the next one.
 * Returns null for a deletion: a tombstone.
 */
export function encodeStrict(written: StrictWritten, epoch: string): Uint8Array | null {
  return written.kind === 'delete' ? null : Buffer.from(JSON.stringify({ format: FORMAT, epoch, record: written }));
}

/** Returns null for what no node wrote in this format and log. */
export function decodeStrict(value: Uint8Array, epoch: string): StrictRecord | null {
  try {
    const read = envelope.parse(JSON.parse(Buffer.from(value).toString()));
    return read.epoch === epoch ? read.record : null;
  } catch {
    return null;
  }
}

export function strictKeyOf(lane: string, written: StrictWritten): string {
  return `strict/${lane}/${recordKey(written)}`;
}

/** Returns the lane of a key; '' = it is another's. */
export function laneOfKey(key: string): string {
  const [kind, lane = ''] = key.split('/', 2);
  return kind === 'strict' ? lane : '';
}

/** Returns the record's key in its lane. */
export function rowKeyOf(key: string): string {
  return key.slice(key.indexOf('/', key.indexOf('/') + 1) + 1);
}

/** Names the slots of a group in the topic. */
export function slotsName(cluster: string, group: string): string {
  return strictLaneName(cluster, group, 'slots');
}

/** Names a lane of a key in the topic. */
export function keyedLaneName(cluster: string, key: string, direction: string): string {
  return `${strictLaneName(cluster, key, direction)},${KEYED}`;
}

/** Tests if a lane is a key's of this cluster. */
export function isKeyedLane(cluster: string, lane: string): boolean {
  return lane.endsWith(`,${KEYED}`) && lane.startsWith(`${encodeURIComponent(cluster)},`);
}

const KEYED = 'key';

/** Returns what a keyed lane counts, by its name: its quota is not known. */
export function keyedQuotaOf(lane: string): StrictQuota {
  const what = lane.split(',')[2];
  return { amount: 0, perMs: 1, depth: 0, keyed: true, ...(what === 'slots' ? { slots: true } : { budget: true }) };
}

/** Names the record that a log has been read for an expiry. */
export function steadyKeyOf(cluster: string): string {
  return `steady/${encodeURIComponent(cluster)}`;
}

/** Names a lane in the topic, which other clusters may share. */
export function strictLaneName(cluster: string, group: string, direction: string): string {
  return [cluster, group, direction].map(encodeURIComponent).join(',');
}
