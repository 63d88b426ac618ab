import { AccountLedger } from '../../sim/oracle/account-ledger.js';
import { quantileOf } from '../../src/tools/load/quantile.js';
import { TokenBucket } from '../race/token-bucket.js';
import { type Customer, PLANS, type Plan } from './customers.js';
import type { Incident } from './schedule.js';
import type { LifeChange } from './service.js';

/** One request, as its client saw it; times are since the beginning. */
export interface Asked {
  readonly customer: number;
  readonly dueMs: number;
  endedMs: number;
  status: number;
}

export interface Played {
  readonly customers: readonly Customer[];
  readonly asked: readonly Asked[];
  readonly incidents: readonly { readonly kind: Incident; readonly fromMs: number; readonly toMs: number }[];
  readonly lifeChanges: readonly LifeChange[];
}

/** Bounds what a model admits above quota × time, in quotas, by its own word. */
export interface Bound {
  readonly depths: number;
  /** On top of it, for each instance that was started or killed within the time. */
  readonly perLifeChange: number;
  readonly words: string;
}

export interface Verdict {
  /** Counts requests of customers below their quota, as the next ones do. */
  readonly asked: number;
  readonly refused: number;
  /** The same of each plan: those of 60 per hour are few, and would not be seen among the others. */
  readonly plans: readonly { readonly name: string; readonly asked: number; readonly refused: number }[];
  /** Counts the refused that were due from the beginning of a deploy to a minute after its end. */
  readonly refusedAfterDeploys: number;
  /** Answered with another failure, by status. */
  readonly failed: number;
  /** Nobody was there, a connection broke twice, or no answer came within a second. */
  readonly lost: number;
  /** Most of any customer above quota × time, over any span, in quotas. */
  readonly mostAbove: number;
  /** Customers with more than the bound in some span. */
  readonly aboveBound: number;
  /** Divides what greedy customers were granted by what an exact bucket would have granted. */
  readonly usedByGreedy: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const GRANTED = 200;
const REFUSED = 429;
const FAILED_FROM = 400;
/** A client without an answer for so long has gone away. */
const PATIENCE_MS = 1000;
const AFTER_DEPLOY_MS = 60_000;

export function verdictOf(played: Played, bound: Bound): Verdict {
  const { customers } = played;
  const below = played.asked.filter(({ customer }) => customers[customer].habit !== 'greedy');
  const intime = below.filter((each) => !isLost(each));
  const refused = refusalsBelowQuota(played);
  const spans = customers.map((customer, at) => {
    const granted = played.asked.filter((each) => each.customer === at && each.status === GRANTED);
    return {
      plain: mostAbove(granted, customer.plan, [], 0),
      credited: mostAbove(granted, customer.plan, played.lifeChanges, bound.perLifeChange),
    };
  });
  const latencies = intime.map(({ dueMs, endedMs }) => endedMs - dueMs);
  return {
    asked: below.length,
    refused: refused.length,
    plans: PLANS.map(({ name }) => {
      const isOf = ({ customer }: Asked): boolean => customers[customer].plan.name === name;
      return { name, asked: below.filter(isOf).length, refused: refused.filter(isOf).length };
    }),
    refusedAfterDeploys: refused.filter(({ dueMs }) => isAfterDeploy(dueMs, played)).length,
    failed: intime.filter(({ status }) => status >= FAILED_FROM && status !== REFUSED).length,
    lost: below.length - intime.length,
    mostAbove: Math.max(...spans.map(({ plain }) => plain)),
    aboveBound: spans.filter(({ credited }) => credited > bound.depths).length,
    usedByGreedy: usedByGreedy(played),
    p50Ms: quantileOf(latencies, 0.5),
    p99Ms: quantileOf(latencies, 0.99),
  };
}

/** Requests that one exact bucket of the whole service would have granted: all of customers below their quota. */
export function refusalsBelowQuota({ customers, asked }: Played): Asked[] {
  const buckets = customers.map(bucketOf);
  return asked.filter(({ customer, dueMs, status }) => {
    const isThere = buckets[customer].take(dueMs);
    const { habit, name } = customers[customer];
    if (habit === 'greedy') return false;
    if (!isThere) throw new Error(`${name} is said to be below its quota, and a bucket has no token at ${dueMs} ms`);
    return status === REFUSED;
  });
}

function bucketOf({ plan }: Customer): TokenBucket {
  return new TokenBucket((plan.amount * 1000) / plan.periodMs, plan.amount);
}

function isLost({ dueMs, endedMs, status }: Asked): boolean {
  return status < GRANTED || !(endedMs - dueMs <= PATIENCE_MS);
}

function isAfterDeploy(dueMs: number, { incidents }: Played): boolean {
  return incidents.some(({ kind, fromMs, toMs }) => {
    return (kind === 'roll' || kind === 'restart') && dueMs >= fromMs && dueMs < toMs + AFTER_DEPLOY_MS;
  });
}

/**
 * Finds the most above quota × time in any span, less `credit` for each change of a life within it.
 *
 * *Worked:* of 60 per hour, 60 at once and 60 more after a minute are 119 above: 1.98 quotas.
 */
function mostAbove(
  granted: readonly Asked[],
  { amount, periodMs }: Plan,
  lifeChanges: readonly LifeChange[],
  credit: number,
): number {
  const ledger = new AccountLedger();
  ledger.limited(0, (amount * 1000) / periodMs, amount);
  for (const { endedMs } of granted) ledger.granted(endedMs, 1);
  for (const { atMs } of lifeChanges) ledger.allow(atMs, credit * amount);
  return ledger.mostBeyond() / amount;
}

function usedByGreedy({ customers, asked }: Played): number {
  const buckets = customers.map(bucketOf);
  let [granted, exact] = [0, 0];
  for (const { customer, dueMs, status } of asked) {
    if (customers[customer].habit !== 'greedy') continue;
    if (buckets[customer].take(dueMs)) exact++;
    if (status === GRANTED) granted++;
  }
  return granted / exact;
}
