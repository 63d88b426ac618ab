import { beforeAll, describe, expect, test } from 'vitest';
import { sharedKafka } from '../kafka/shared-kafka.js';
import {
  BOTH_MS,
  END_MS,
  extremesOf,
  fairness,
  playSharedQuota,
  QUOTA,
  type SharedQuotaResult,
} from '../mqtt/shared-quota.js';

const KINDS = ['embedded', 'kafka'] as const;
/** Buckets are full when the publishers begin: burstMs of the quota comes on top. */
const MOST = 10 * QUOTA * 1.02 + 0.1 * QUOTA;
const LEAST = 10 * QUOTA * 0.98;
const results = new Map<string, SharedQuotaResult>();

beforeAll(async () => {
  const kafka = { kind: 'kafka', brokers: await sharedKafka(), name: `mqtt-${process.pid}` };
  results.set('embedded', await playWell('embedded'));
  results.set('kafka', await playWell(kafka));
}, 240_000);

/** A subscriber that waits for a core sees the messages of one second in the next: then once more. A broken promise breaks every time. */
async function playWell(topic: Parameters<typeof playSharedQuota>[0]): Promise<SharedQuotaResult> {
  let played = await playSharedQuota(topic);
  for (let again = 0; again < 2 && !played.isTooBusy && !isWithin(played); again++)
    played = await playSharedQuota(topic);
  return played;
}

function isWithin({ arrivals }: SharedQuotaResult): boolean {
  const { most } = extremesOf(arrivals, 10_000, [0, END_MS]);
  return most <= MOST && extremesOf(arrivals, 10_000, [500, BOTH_MS]).least >= LEAST;
}

describe.each(KINDS)('two brokers and 50 skewed publishers on the %s topic', (kind) => {
  test('together they pass the quota, within 2 %% over any 10 s', () => {
    const { arrivals, errors, isTooBusy } = results.get(kind)!;
    const both = extremesOf(arrivals, 10_000, [500, BOTH_MS]);
    const always = extremesOf(arrivals, 10_000, [0, END_MS]);
    const share = (count: number) => ((100 * count) / (10 * QUOTA)).toFixed(1);
    console.log(
      `${kind}: any 10 s, both busy: ${share(both.least)} to ${share(both.most)} %; at most ${share(always.most)} %`,
    );
    expect(always.most).toBeLessThanOrEqual(MOST);
    if (!isTooBusy) expect(both.least).toBeGreaterThanOrEqual(LEAST);
    expect(errors).toBe(0);
  });

  test('the share of the broker that has gone idle goes to the busy one', () => {
    const { arrivals, isTooBusy } = results.get(kind)!;
    const a = arrivals.filter(({ broker }) => broker === 'a');
    const before = extremesOf(a, 5000, [BOTH_MS - 5000, BOTH_MS]).most / 5;
    const after = extremesOf(a, 2000, [END_MS - 2000, END_MS]).least / 2;
    console.log(`${kind}: broker a ${before.toFixed(0)}/s beside b, ${after.toFixed(0)}/s alone`);
    expect(before).toBeLessThan(QUOTA * 0.6);
    if (!isTooBusy) expect(after).toBeGreaterThan(QUOTA * 0.9);
  });

  test('publishers of one group are served fairly', () => {
    const { arrivals, plans } = results.get(kind)!;
    for (const [broker, publishers] of Object.entries(plans)) {
      const window = arrivals.filter(({ atMs }) => atMs >= 2000 && atMs < BOTH_MS);
      const got = publishers.map(({ id }) => window.filter(({ publisher }) => publisher === id).length);
      const wanted = publishers.map(({ perSecond }) => (perSecond * (BOTH_MS - 2000)) / 1000);
      const index = fairness(got, wanted);
      console.log(`${kind}: Jain's index of the publishers of ${broker}: ${index.toFixed(4)}`);
      expect(index).toBeGreaterThanOrEqual(0.95);
    }
  });
});
