import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { EnvoyCluster } from '../envoy/envoy-cluster.js';
import { findEnvoy } from '../envoy/envoy-package.js';
import { PacedRequests } from '../envoy/paced-requests.js';
import { passedIn } from '../envoy/passed-span.js';
import { rateLimitFilter, tenantDescriptor } from '../envoy/rate-limit-filter.js';

const isHere = (await findEnvoy()) !== null;
const QUOTA = 300;
const quota = { publish: { messagesPerSecond: QUOTA } };
const SETTLED_MS = 3000;
/** A health check of Envoy finds the dead node within 1 s, and the other node takes its share after 5 s. */
const FOUND_MS = 8000;
const DEADLINE_MS = 30_000;

describe.runIf(isHere)('Envoys that ask nodes about each request', () => {
  let nodes: EnvoyCluster;
  let loads: PacedRequests[];

  afterEach(async () => {
    await Promise.all(loads.map((load) => load.stop()));
    await nodes.stop();
  });

  const start = async (group: object = { burst: '0.1s' }) => {
    nodes = await EnvoyCluster.start(['a', 'b'], { 'edge/tenant:alice': { quota, ...group } });
    loads = [];
  };
  const load = async (ids: readonly string[], perSecond: number, failureModeDeny: boolean) => {
    const filters = [rateLimitFilter('edge', { failureModeDeny })];
    const envoy = await nodes.envoy(ids, { filters, rateLimits: [tenantDescriptor('tenant')] });
    loads.push(new PacedRequests(envoy.port, 'alice', perSecond));
  };
  const failed = () => loads.reduce((sum, { counts }) => sum + (counts[500] ?? 0), 0);
  const told = () => JSON.stringify(loads.map(({ counts }) => counts));

  it.each([
    [false, 'pass'],
    [true, 'are answered 500'],
  ])('a node is killed with failure_mode_deny %s: requests that it does not answer %s', async (deny) => {
    await start();
    await load(['a', 'b'], QUOTA, deny);
    await load(['b', 'a'], QUOTA, deny);
    await sleep(SETTLED_MS);
    nodes.cluster.node('a').child.signal('SIGKILL');
    const meanwhile = await passedIn(loads, FOUND_MS);
    const failedMeanwhile = failed();
    const after = await passedIn(loads, 5000);
    const unasked = await nodes.envoys[0]!.stat('cluster.backend.ratelimit.failure_mode_allowed');
    console.log(
      `${meanwhile.total} in ${meanwhile.most.toFixed(2)} s, then ${after.total} in ${after.most.toFixed(2)} s`,
    );
    console.log(`unasked ${unasked}, answered 500 ${failedMeanwhile}`, told());
    // Some 2 s of one Envoy's requests, until its health check has failed.
    expect(deny ? failedMeanwhile : unasked).toBeLessThanOrEqual(3 * QUOTA);
    expect(deny ? unasked : failedMeanwhile).toBe(0);
    expect(meanwhile.total - unasked).toBeLessThanOrEqual(1.02 * QUOTA * meanwhile.most);
    expect(failed() - failedMeanwhile).toBe(0);
    expect(after.total).toBeLessThanOrEqual(1.01 * QUOTA * after.most);
    expect(after.total).toBeGreaterThanOrEqual(0.98 * QUOTA * (after.least - after.silent));
  });

  it.each([
    [false, 200],
    [true, 500],
  ])('no node is left, failure_mode_deny %s: each request is answered %i', async (deny, status) => {
    await start();
    await load(['a', 'b'], QUOTA / 3, deny);
    await sleep(SETTLED_MS);
    for (const id of ['a', 'b']) nodes.cluster.node(id).child.signal('SIGKILL');
    await sleep(SETTLED_MS);
    const before = { ...loads[0]!.counts };
    await sleep(3000);
    const { counts } = loads[0]!;
    const answered = Object.entries(counts).filter(([code, count]) => count > (before[Number(code)] ?? 0));
    expect(answered.map(([code]) => Number(code))).toEqual([status]);
  });

  it('nodes are replaced one after the other: nobody below the quota is refused, and no request fails', async () => {
    // A generator that is late by a second refuses nobody.
    await start({ burst: '3s' });
    await load(['a', 'b'], QUOTA / 4, true);
    await load(['b', 'a'], QUOTA / 4, true);
    await sleep(SETTLED_MS);
    for (const id of ['a', 'b']) {
      await nodes.cluster.node(id).child.stop(8000);
      await sleep(3000);
      await (await nodes.cluster.spawn(id)).ready();
      await sleep(3000);
    }
    console.log('replaced:', told());
    for (const { counts } of loads) expect(Object.keys(counts)).toEqual(['200']);
  });

  it('an Envoy is killed: the other has the whole quota', async () => {
    await start();
    await load(['a'], QUOTA, true);
    await load(['b'], QUOTA, true);
    await sleep(SETTLED_MS);
    await nodes.envoys[0]!.kill();
    const begunAt = performance.now();
    for (;;) {
      const { total, least, most, silent } = await passedIn(loads.slice(1), 1000);
      expect(total).toBeLessThanOrEqual(1.02 * QUOTA * most + 0.1 * QUOTA);
      if (total >= 0.98 * QUOTA * (least - silent)) break;
      expect(performance.now() - begunAt).toBeLessThan(DEADLINE_MS);
    }
    console.log(`an Envoy killed: the other has all of it after ${Math.round(performance.now() - begunAt)} ms`);
  });
});
