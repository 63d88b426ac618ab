import { formatQuantity, parseRate, type TimeUnit } from '../../../config/setting/quantity.js';
import type { InitOptions } from './init-command.js';
import { MEETING_KINDS, MEETINGS, type Meeting, meetingAt } from './meetings.js';

/** First quota, and whose. */
export interface FirstQuota {
  readonly of: 'group' | 'key';
  /** Name of the group, or pattern of the keys. */
  readonly name: string;
  readonly dimension: 'messages' | 'bytes';
  /** Amount as written: `5k`. */
  readonly amount: string;
  readonly per: TimeUnit;
}

export const DEFAULT_QUOTA: FirstQuota = {
  of: 'group',
  name: 'orders',
  dimension: 'messages',
  amount: '1000',
  per: 'second',
};

/** Marks an answer that is not understood; others are the configuration's to judge. */
export class NotUnderstood extends Error {}

/** Reads `orders 1000/s`, `key:{id} 600/min`. */
export function quotaOf(answer: string): FirstQuota {
  const text = answer.trim();
  if (text === '') return DEFAULT_QUOTA;
  const [, name = '', rate = ''] = /^(\S+)\s+(.+)$/.exec(text) ?? [];
  if (rate === '') throw new NotUnderstood('a name and a rate with a space between them are needed: orders 1000/s');
  return { of: name.includes('{') ? 'key' : 'group', name, ...rateOf(rate) };
}

/** Reads the meeting place of flags; null = none. */
export function meetingOfFlags(options: InitOptions): Meeting | null {
  for (const kind of MEETING_KINDS) {
    const { further, takes } = MEETINGS[kind];
    const asked = options[kind];
    const name = further && options[further.flag];
    if (name !== undefined && asked === undefined) throw new NotUnderstood(`--${further?.flag} needs --${kind}`);
    if (asked !== undefined)
      return takes === null ? meetingAt(kind, '') : meetingAt(kind, String(asked), name?.toString());
  }
  return null;
}

export function quotaOfFlags({ group, key, quota }: InitOptions): FirstQuota | null {
  if (group === undefined && key === undefined && quota === undefined) return null;
  const rate = quota === undefined ? DEFAULT_QUOTA : rateOf(quota);
  const of = key === undefined ? 'group' : 'key';
  return { ...DEFAULT_QUOTA, ...rate, of, name: key ?? group ?? DEFAULT_QUOTA.name };
}

function rateOf(text: string): Pick<FirstQuota, 'dimension' | 'amount' | 'per'> {
  for (const [dimension, kind] of DIMENSIONS) {
    const { amount, per } = parseRate(kind, text);
    if (!Number.isNaN(amount)) return { dimension, amount: formatQuantity(kind, amount), per };
  }
  throw new NotUnderstood(`${JSON.stringify(text)} is no rate; rates are 1000/s, 300/min, 5k/h, 100k/day, 1MiB/s`);
}

/** Dimensions, messages first: `500k` is both. */
const DIMENSIONS = [
  ['messages', 'rate'],
  ['bytes', 'byte-rate'],
] as const;
