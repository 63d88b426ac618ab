import { describe, expect, it } from 'vitest';
import { keyNameOf } from '../../../src/config/setting/key-name.js';
import { rateKey, type WrittenRate } from '../../../src/config/setting/written-rate.js';
import { BYTES, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { Limiter } from '../../../src/core/limiter/limiter.js';
import { policyName, RateLimitFields } from '../../../src/doors/http/acquire/rate-limit-fields.js';
import { NO_BUDGETS } from '../../../src/node/strict/budget-lanes.js';
import { NO_STRICT_LANES } from '../../../src/node/strict/strict-lanes.js';
import type { WholeNode } from '../../whole-node.js';

const INFINITE = Infinity;

describe('RateLimit-Policy', () => {
  it.each([
    [1000, 'q=1000;w=1'],
    // Whole units, never more than is configured.
    [1.9, 'q=1;w=1'],
    [1, 'q=1;w=1'],
    // Less than one per second: per longer window.
    [0.5, 'q=1;w=2'],
    [0.3, 'q=1;w=4'],
    [1 / 3600, 'q=1;w=3600'],
    [0, 'q=0;w=1'],
    // Structured fields know integers of 15 digits.
    [1e15, 'q=999999999999999;w=1'],
  ])('a quota of %d messages per second is %s', (quota, expected) => {
    expect(fieldsOf([quota, INFINITE]).fields.policy(0)).toBe(`"g-publish-messages";${expected}`);
  });

  it.each<[WrittenRate, string]>([
    [{ amount: 5, per: 'minute' }, 'q=5;w=60'],
    [{ amount: 600, per: 'hour' }, 'q=600;w=3600'],
    [{ amount: 10_000, per: 'day' }, 'q=10000;w=86400'],
    [{ amount: 2.5, per: 'minute' }, 'q=2;w=60'],
    [{ amount: 0.5, per: 'day' }, 'q=1;w=172800'],
    [{ amount: 0, per: 'day' }, 'q=0;w=86400'],
    [{ amount: 0.33333333333333326, per: 'minute' }, 'q=1;w=180'],
    [{ amount: 0.0059523809523, per: 'hour' }, 'q=1;w=604800'],
  ])('%j is told per window that was named: %s', (written, expected) => {
    expect(fieldsOf([written, INFINITE]).fields.policy(0)).toBe(`"g-publish-messages";${expected}`);
  });

  it('a limit of a client is told per window that was named, too', () => {
    const { fields } = fieldsOf([10, INFINITE], { amount: 5, per: 'minute' });
    expect(fields.policyWith(0, { level: 'client', dimension: 'messages' })).toBe(
      '"g-publish-messages";q=10;w=1, "g-publish-messages-per-client";q=5;w=60',
    );
  });

  it('has an item per configured dimension; bytes name their unit', () => {
    expect(fieldsOf([10, 2048]).fields.policy(0)).toBe(
      '"g-publish-messages";q=10;w=1, "g-publish-bytes";q=2048;w=1;qu="content-bytes"',
    );
    expect(fieldsOf([INFINITE, 2048]).fields.policy(0)).toBe('"g-publish-bytes";q=2048;w=1;qu="content-bytes"');
    expect(fieldsOf([INFINITE, INFINITE]).fields.policy(0)).toBe('');
  });
});

describe('RateLimit', () => {
  it('names a long key as it is kept, so that no proxy drops the answer', () => {
    const name = policyName(`key:${'👩'.repeat(2000)}`, 'publish', 'messages');
    expect(name).toMatch(/^key:%F0%9F.*~sha256:[\w-]{43}-publish-messages$/);
    expect(name.length).toBeLessThan(2048);
    expect(policyName(keyNameOf(`key:${'x'.repeat(300)}`))).toBe(policyName(`key:${'x'.repeat(300)}`));
  });

  it('r is what this node would admit now, in whole units, never negative; t is when the bucket is full', () => {
    const { fields, limiter } = fieldsOf([10, 2048]);
    limiter.setLimit(0, MESSAGES, 10, 20, 0);
    limiter.setLimit(0, BYTES, 2048, 4096, 0);
    // The shares are not confirmed: nothing would be admitted.
    expect(fields.current(0, 1550)).toBe('"g-publish-messages";r=0;t=1, "g-publish-bytes";r=0;t=1');
    limiter.validUntilMs.set(0, INFINITE);
    expect(fields.current(0, 1550)).toBe('"g-publish-messages";r=15;t=1, "g-publish-bytes";r=3174;t=1');
    limiter.tryAcquire(0, 15, 3000, false, 1550);
    expect(fields.current(0, 1550)).toBe('"g-publish-messages";r=0;t=2, "g-publish-bytes";r=174;t=2');
    // Full buckets admit any amount and leave a debt.
    limiter.tryAcquire(0, 500, 0, false, 9000);
    expect(fields.current(0, 9000)).toBe('"g-publish-messages";r=0;t=50, "g-publish-bytes";r=4096;t=0');
  });

  it('a blocked dimension has no t: nothing comes in', () => {
    const { fields, limiter } = fieldsOf([0, INFINITE]);
    limiter.setLimit(0, MESSAGES, 0, 1, 0);
    limiter.validUntilMs.set(0, INFINITE);
    expect(fields.current(0, 0)).toBe('"g-publish-messages";r=0');
  });

  it('in a refusal only the item that refused has a t', () => {
    const { fields } = fieldsOf([10, 2048]);
    expect(fields.current(0, 0, { level: 'group', dimension: 'bytes', retryAfterS: 7 })).toBe(
      '"g-publish-messages";r=0, "g-publish-bytes";r=0;t=7',
    );
  });
});

/** Fields of a node with one group; a number is a rate per second. */
function fieldsOf(quota: readonly (number | WrittenRate)[], ofClient: WrittenRate | null = null) {
  const limiter = new Limiter(2);
  const rates = quota.map((rate) => (typeof rate === 'object' ? rate : { amount: rate, per: 'second' as const }));
  const [messages, bytes] = rates.map((rate) => (rate.amount === INFINITE ? null : rate));
  const asWritten = {
    quota: { publish: { [rateKey('messages')]: messages, [rateKey('bytes')]: bytes } },
    perClient: { publish: { [rateKey('messages')]: ofClient } },
  };
  const group = { name: 'g', asWritten };
  const beside = {
    gate: { groupOf: () => group },
    loop: { coordinator: null },
    strict: NO_STRICT_LANES,
    budgets: NO_BUDGETS,
  };
  const node = { config: { limits: {} }, limiter, ...beside };
  return { limiter, fields: new RateLimitFields(node as unknown as WholeNode) };
}
