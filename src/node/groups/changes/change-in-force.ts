import { setTimeout as sleep } from 'node:timers/promises';
import { lanesOf } from '../../../core/base/vocabulary.js';
import { EXPIRY_MS } from '../../../core/strict/constants.js';
import type { QuotaInForce } from '../../api/change-answers.js';
import type { ChangeParts } from './change-parts.js';

/** Milliseconds in which the log says what it makes of a change; more are not waited for. */
const DECIDED_MS = 1000;
const LOOK_MS = 10;
/** Milliseconds until all who hold more have lowered it or are expired: an expiry, and the record that says so. */
const LATEST_MS = EXPIRY_MS + 1000;

/** Reads how far the changed quotas of strict lanes have come. */
export interface StrictQuotas {
  /** undefined = a relaxed lane. */
  get(lane: number): { readonly bucket: ChangingQuota } | undefined;
}

interface ChangingQuota {
  /** True = the log does not have the newest quota proposed here. */
  readonly isProposing: boolean;
  readonly isInForce: boolean;
  /** Nodes that hold more than they may by a lowered quota. */
  readonly waitsFor: readonly string[];
}

/** Tells if a strict group's changed quota is in force; null = a relaxed group. */
export async function changeInForce(parts: ChangeParts, group: string): Promise<QuotaInForce | null> {
  const number = parts.groups.numbers.get(group);
  const lanes = number === undefined ? [] : lanesOf(number);
  const buckets = lanes.flatMap((lane) => parts.strict.get(lane)?.bucket ?? []);
  if (buckets.length === 0) return null;
  const untilMs = performance.now() + DECIDED_MS;
  while (buckets.some(({ isProposing }) => isProposing) && performance.now() < untilMs) await sleep(LOOK_MS);
  const isInForce = buckets.every((bucket) => bucket.isInForce);
  const waitsFor = [...new Set(buckets.flatMap((bucket) => bucket.waitsFor))].sort();
  return { isInForce, waitsFor, withinMs: isInForce ? 0 : LATEST_MS };
}
