import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { EnvoyCluster } from '../envoy/envoy-cluster.js';
import { findEnvoy } from '../envoy/envoy-package.js';
import { PacedRequests } from '../envoy/paced-requests.js';
import { passedIn } from '../envoy/passed-span.js';
import { quotaFilter } from '../envoy/quota-filter.js';

const isHere = (await findEnvoy()) !== null;
const QUOTA = 600;
const quota = { publish: { messagesPerSecond: QUOTA } };
/** The first report comes with the first request, two more follow 5 s apart. */
const REPORTED_MS = 11_000;
/** Outlasts an assignment of 15 s; then Envoy does what its configuration says. */
const ENDED_MS = 16_000;
const DEADLINE_MS = 60_000;

describe.runIf(isHere)('Envoys of two nodes with one quota', () => {
  let nodes: EnvoyCluster;
  let loads: PacedRequests[];

  const start = async (group: object = {}) => {
    nodes = await EnvoyCluster.start(['a', 'b'], { 'edge/tenant:alice': { quota, ...group } });
    loads = [];
  };

  afterEach(async () => {
    await Promise.all(loads.map((load) => load.stop()));
    await nodes.stop();
  });

  /** An Envoy of these nodes under a steady load. */
  const load = async (ids: readonly string[], perSecond: number, expired: 'ALLOW_ALL' | 'DENY_ALL' = 'DENY_ALL') => {
    const filters = [quotaFilter({ domain: 'edge', name: `envoy-${loads.length}`, expired })];
    const envoy = await nodes.envoy(ids, { filters });
    const requests = new PacedRequests(envoy.port, 'alice', perSecond);
    loads.push(requests);
    return requests;
  };
  const refusedBy = (all: readonly PacedRequests[]) => all.map(({ counts }) => counts[429] ?? 0);

  it('one wants all of it and three a tenth: 97 % is used, and no more than the quota', async () => {
    await start();
    for (const [at, wish] of [QUOTA, QUOTA / 10, QUOTA / 10, QUOTA / 10].entries())
      await load([at % 2 ? 'b' : 'a'], wish);
    await sleep(REPORTED_MS);
    const { passed, total, least, most } = await passedIn(loads, 20_000);
    console.log(`${passed.join(' + ')} = ${total} in ${most.toFixed(2)} s of ${QUOTA}/s`);
    expect(total).toBeLessThanOrEqual(1.02 * QUOTA * most);
    expect(total).toBeGreaterThanOrEqual(0.97 * QUOTA * least);
  });

  it('a node is killed: its Envoy goes on, finds the other node, and the quota is kept', async () => {
    await start();
    await load(['a', 'b'], QUOTA);
    await load(['b'], QUOTA);
    await sleep(REPORTED_MS);
    nodes.cluster.node('a').child.signal('SIGKILL');
    const meanwhile = await passedIn(loads, 15_000);
    const after = await passedIn(loads, 10_000);
    console.log(`a killed: ${meanwhile.passed.join(' + ')}, then ${after.passed.join(' + ')} of ${QUOTA}/s`);
    // The share of the dead node is given to others 5 s later, and its Envoy is found at the next of its reports.
    expect(meanwhile.total).toBeLessThanOrEqual(1.02 * QUOTA * meanwhile.most + (QUOTA / 2) * 5);
    expect(after.total).toBeLessThanOrEqual(1.02 * QUOTA * after.most);
    expect(after.total).toBeGreaterThanOrEqual(0.95 * QUOTA * after.least);
    for (const passed of after.passed) expect(passed).toBeGreaterThanOrEqual(0.4 * QUOTA * after.least);
  });

  it.each([
    ['DENY_ALL', 0],
    ['ALLOW_ALL', 200],
  ] as const)('no node is left: an Envoy keeps its share until that ends, then %s', async (expired, perSecond) => {
    await start();
    const requests = await load(['a'], 200, expired);
    await sleep(REPORTED_MS);
    const refused = requests.counts[429] ?? 0;
    for (const id of ['a', 'b']) nodes.cluster.node(id).child.signal('SIGKILL');
    const held = await passedIn([requests], 10_000);
    // Below its share nothing was refused.
    expect((requests.counts[429] ?? 0) - refused).toBe(0);
    expect(held.total).toBeLessThanOrEqual(QUOTA * held.most);
    await sleep(ENDED_MS - 10_000);
    const { total, least } = await passedIn([requests], 3000);
    if (perSecond === 0) expect(total).toBe(0);
    else expect(total).toBeGreaterThanOrEqual(0.9 * perSecond * least);
  });

  it('nodes are replaced one after the other: nobody below the quota is refused', async () => {
    // A generator that is late by a second refuses nobody.
    await start({ burst: '3s' });
    await load(['a', 'b'], QUOTA / 4);
    await load(['b', 'a'], QUOTA / 4);
    await sleep(REPORTED_MS);
    const before = refusedBy(loads);
    for (const id of ['a', 'b']) {
      await nodes.cluster.node(id).child.stop(8000);
      await sleep(7000);
      await (await nodes.cluster.spawn(id)).ready();
      await sleep(7000);
    }
    console.log(
      'replaced:',
      loads.map(({ counts }) => counts),
    );
    expect(refusedBy(loads)).toEqual(before);
  });

  it('a node is frozen: its Envoy finds the other one, and the quota is kept', async () => {
    await start();
    await load(['a', 'b'], QUOTA);
    await load(['b'], QUOTA);
    await sleep(REPORTED_MS);
    nodes.cluster.node('a').child.signal('SIGSTOP');
    await sleep(ENDED_MS);
    const frozen = await passedIn(loads, 10_000);
    nodes.cluster.node('a').child.signal('SIGCONT');
    await sleep(REPORTED_MS);
    const thawed = await passedIn(loads, 10_000);
    console.log(`frozen: ${frozen.passed.join(' + ')}, thawed: ${thawed.passed.join(' + ')} of ${QUOTA}/s`);
    for (const { total, most, least } of [frozen, thawed]) {
      expect(total).toBeLessThanOrEqual(1.02 * QUOTA * most);
      expect(total).toBeGreaterThanOrEqual(0.95 * QUOTA * least);
    }
  });

  it('an Envoy is killed: the other has its part', async () => {
    await start();
    await load(['a'], QUOTA);
    const stays = await load(['b'], QUOTA);
    await sleep(REPORTED_MS);
    await nodes.envoys[0]!.kill();
    const begunAt = performance.now();
    for (;;) {
      const { total, least } = await passedIn([stays], 2000);
      if (total >= 0.95 * QUOTA * least) break;
      expect(performance.now() - begunAt).toBeLessThan(DEADLINE_MS);
    }
    console.log(`an Envoy killed: the other has all of it after ${Math.round((performance.now() - begunAt) / 1000)} s`);
  });
});
