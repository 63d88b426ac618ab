import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Envoy } from '../envoy/envoy.js';
import { EnvoyCluster } from '../envoy/envoy-cluster.js';
import { findEnvoy } from '../envoy/envoy-package.js';
import { PacedRequests } from '../envoy/paced-requests.js';
import { passedIn } from '../envoy/passed-span.js';
import { quotaFilter } from '../envoy/quota-filter.js';

const isHere = (await findEnvoy()) !== null;
const QUOTA = 400;
/** The first report comes with the first request, the second 5 s later; then what moved is told. */
const TWO_REPORTS_MS = 7000;
/** Ten times what it takes on a machine at rest. */
const PATIENCE_MS = 40_000;

/** A generator that is late sends a second's requests at once: a bucket of a tenth of a second refused 116 of 600. */
const BURST_SECONDS = 1;

const quota = { publish: { messagesPerSecond: QUOTA } };
const TENANT = { 'edge/tenant:alice': { quota, burst: `${BURST_SECONDS}s` } };

describe.runIf(isHere)('two Envoys at two nodes, one of which wants more than the quota and one little', () => {
  let nodes: EnvoyCluster;
  let envoys: Envoy[] = [];
  let loads: PacedRequests[] = [];

  beforeAll(async () => {
    nodes = await EnvoyCluster.start(['a', 'b'], TENANT);
    const filters = (name: string) => [quotaFilter({ domain: 'edge', name, expired: 'DENY_ALL' })];
    envoys = await Promise.all(['a', 'b'].map((id) => nodes.envoy([id], { filters: filters(`envoy-${id}`) })));
    loads = envoys.map(({ port }, at) => new PacedRequests(port, 'alice', at === 0 ? 600 : 60));
  });

  afterAll(async () => {
    await Promise.all(loads.map((load) => load.stop()));
    await nodes.stop();
  });

  it('the quota is used and kept over 10 s after two reports, and each Envoy is an enforcer of its node', async () => {
    await sleep(TWO_REPORTS_MS);
    const { passed, total, least, most } = await passedIn(loads, 10_000);
    console.log(
      `${passed.join(' + ')} in ${most.toFixed(3)} s of ${QUOTA}/s`,
      loads.map(({ counts }) => counts),
    );
    expect(total).toBeLessThanOrEqual(1.02 * QUOTA * most);
    expect(total).toBeGreaterThanOrEqual(0.95 * QUOTA * least);
    expect(passed[1]).toBeGreaterThanOrEqual(0.9 * 60 * least);
    const listed = await fetch(`${nodes.cluster.url('a')}/v1/enforcers`);
    expect(await listed.json()).toMatchObject({ alive: 1, enforcers: [{ alive: true, groups: 1, heldBack: 1 }] });
    const status = await (await fetch(`${nodes.cluster.url('b')}/v1/envoy`)).json();
    expect(status).toMatchObject({ quota: { streams: 1, buckets: 1, refused: {} } });
  });

  it('one that is killed gives back at once, and the other has all of it with its next report', async () => {
    await loads[1]!.stop();
    await envoys[1]!.kill();
    const givenUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const { total, least, most } = await passedIn(loads, 3000);
      console.log(`${total} in ${most.toFixed(3)} s of ${QUOTA}/s after a kill`);
      // And what its bucket held.
      expect(total).toBeLessThanOrEqual(1.02 * QUOTA * most + BURST_SECONDS * QUOTA);
      if (total >= 0.95 * QUOTA * least) break;
      expect(performance.now()).toBeLessThan(givenUpAt);
    }
  });
});
