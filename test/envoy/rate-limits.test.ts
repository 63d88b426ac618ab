import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EnvoyCluster } from './envoy-cluster.js';
import { findEnvoy } from './envoy-package.js';
import { PacedRequests } from './paced-requests.js';
import { passedIn } from './passed-span.js';
import { rateLimitFilter, tenantDescriptor } from './rate-limit-filter.js';

const isHere = (await findEnvoy()) !== null;
const QUOTA = 300;
/** Until both nodes have had each other's first reports, and the first burst is over. */
const SETTLED_MS = 1500;
const SPAN_MS = 5000;
const LOOK_MS = 50;

/** Waits until requests have been refused in each of several looks: the bucket is empty then. */
async function untilEmpty(load: PacedRequests): Promise<void> {
  for (let refusing = 0, before = load.counts[429] ?? 0; refusing < 4; ) {
    await sleep(LOOK_MS);
    const now = load.counts[429] ?? 0;
    refusing = now > before ? refusing + 1 : 0;
    before = now;
  }
}

it.runIf(isHere)('two Envoys that ask two nodes pass one quota together, within 1 %', async ({ onTestFinished }) => {
  const group = { quota: { publish: { messagesPerSecond: QUOTA } }, burst: '0.1s' };
  const nodes = await EnvoyCluster.start(['a', 'b'], { 'edge/tenant:alice': group }, { headers: 'ietf' });
  onTestFinished(() => nodes.stop());
  const proxy = { filters: [rateLimitFilter('edge')], rateLimits: [tenantDescriptor('tenant')] };
  const envoys = await Promise.all(['a', 'b'].map((id) => nodes.envoy([id], proxy)));
  const loads = envoys.map(({ port }, at) => new PacedRequests(port, 'alice', at === 0 ? 350 : 60));
  onTestFinished(async () => void (await Promise.all(loads.map((load) => load.stop()))));
  await sleep(SETTLED_MS);
  await untilEmpty(loads[0]!);
  const { passed, total, least, most, silent } = await passedIn(loads, SPAN_MS);
  const answers = JSON.stringify(loads.map(({ counts }) => counts));
  console.log(
    `${passed.join(' + ')} = ${total} in ${least.toFixed(3)} to ${most.toFixed(3)} s of ${QUOTA}/s, ${silent} s silent`,
    answers,
  );
  expect(total).toBeLessThanOrEqual(1.01 * QUOTA * most);
  // While nothing is answered for longer than the burst, because the machine is busy, what comes in is lost.
  expect(total).toBeGreaterThanOrEqual(0.99 * QUOTA * (least - silent));
  // Every answer is one of a node: none passed, and none was refused, because nobody answered.
  for (const { counts } of loads) {
    expect(Object.keys(counts).filter((code) => !['200', '429'].includes(code))).toEqual([]);
  }
  const { headers } = await fetch(envoys[0]!.url, { headers: { 'x-tenant': 'alice' } });
  expect(headers.get('x-ratelimit-limit')).toBe(`${QUOTA}, ${QUOTA};w=1;name="edge/tenant:alice"`);
  expect(headers.get('ratelimit-policy')).toBe(`"edge/tenant:alice-publish-messages";q=${QUOTA};w=1`);
  expect(headers.get('ratelimit')).toMatch(/^"edge\/tenant:alice-publish-messages";r=\d+/);
});
