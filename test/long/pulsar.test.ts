import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { OtherLoad } from '../other-load.js';
import { FollowedCluster } from '../pulsar/broker/followed-cluster.js';
import { PULSAR_START_TIMEOUT_MS } from '../pulsar/broker/pulsar-cluster.js';
import {
  acknowledgedOf,
  consumedOf,
  type LoadOptions,
  mostInWindow,
  PulsarLoad,
  ratesBetween,
  reachedAfter,
  type Sample,
} from '../pulsar/broker/pulsar-load.js';

/** Messages per second of the cluster, and how long a broker's last share lasts. */
const QUOTA = 1000;
const ISOLATION_MS = 3000;
const SETTLE_MS = 10_000;
const STEADY_MS = 15_000;
/** A page is read every 200 ms, on a machine that is busy. */
const NOTICED_MS = 2000;
let cluster: FollowedCluster;

/** A hook that is registered within another one is never called. */
const ends: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  cluster = await FollowedCluster.start((end) => ends.unshift(end), { quotameshIsolationMs: ISOLATION_MS });
}, PULSAR_START_TIMEOUT_MS);
afterAll(async () => {
  for (const end of ends) await end();
});

async function loadOf(topics: readonly string[], options: Partial<LoadOptions> = {}): Promise<PulsarLoad> {
  const load = await PulsarLoad.start({ url: cluster.pulsar.brokers[0].serviceUrl, topics, ...options });
  onTestFinished(() => load.stop());
  return load;
}

function perSecond(samples: readonly Sample[]): number[] {
  return ratesBetween(samples[0], samples.at(-1)!).map(Math.round);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

async function until(isSo: () => Promise<boolean>, mostMs: number, what: string): Promise<number> {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > mostMs) throw new Error(`not within ${mostMs} ms: ${what}`);
    await sleep(200);
  }
  return performance.now() - began;
}

for (const batching of [false, true]) {
  test(`publish, 80/20 and then moved${batching ? ', with batches' : ''}`, async () => {
    const group = batching ? 'moved-batches' : 'moved';
    const load = await loadOf(await cluster.group(group, { publishRateInMsgs: QUOTA }), { batching });
    load.want(1000, 200);
    await sleep(SETTLE_MS);
    const others = new OtherLoad();
    const steadyMs = Date.now();
    await sleep(STEADY_MS);
    load.want(200, 1000);
    const movedMs = Date.now();
    await sleep(STEADY_MS);
    const all = load.since(steadyMs);
    const after = load.since(movedMs);
    const before = all.filter(({ ms }) => ms < movedMs);
    const settledMs = reachedAfter(after, 1, 0.95 * 800);
    const most = mostInWindow(all, 5, acknowledgedOf);
    const writes = await cluster.pulsar.brokers[1].metrics('pulsar_quotamesh_limiter');
    console.log(
      `${group}: ${perSecond(before)}, then ${perSecond(after)}; settled after ${settledMs} ms; most in 5 s ${most}`,
    );
    console.log(`${group}: ${await cluster.shares(group)}; ${[...writes].join(' ')}`);
    expect(sum(perSecond(all))).toBeLessThanOrEqual(1.03 * QUOTA);
    // Acknowledgements come late and together there.
    if (others.isTooMuch(group)) return;
    expect(settledMs).toBeLessThanOrEqual(1000);
    expect(sum(perSecond(all))).toBeGreaterThanOrEqual(0.97 * QUOTA);
    expect(most).toBeLessThanOrEqual(1.03 * 5 * QUOTA);
  });
}

test('dispatch: the demand moves, and then both brokers have more to dispatch than they may', async () => {
  const load = await loadOf(await cluster.group('dispatched', { dispatchRateInMsgs: QUOTA }));
  load.consume(0);
  load.consume(1);
  const seen: string[] = [];
  /** Second by second: what was dispatched, of what is there, with which shares. */
  const pass = async (seconds: number): Promise<Sample[]> => {
    const beganMs = Date.now();
    for (let second = 1; second <= seconds; second++) {
      await sleep(beganMs + 1000 * second - Date.now());
      const [from, to] = [load.samples.at(-11) ?? load.samples[0], load.last];
      const waiting = to.acknowledged.map((count, at) => count - to.consumed[at]);
      const rates = [acknowledgedOf, consumedOf].map((of) => ratesBetween(from, to, of).map(Math.round).join(' + '));
      seen.push(`${rates.join(' published, ')} dispatched, ${waiting} wait, shares ${await shares()}`);
    }
    return load.since(beganMs);
  };
  const shares = async () => (await cluster.shares('dispatched', 'dispatch')).map(Math.round);
  const used = (samples: Sample[]) => {
    const [published, dispatched] = [acknowledgedOf, consumedOf].map((of) =>
      sum(ratesBetween(samples[0], samples.at(-1)!, of)),
    );
    return { dispatched: dispatched, part: dispatched / Math.min(QUOTA, published) };
  };
  load.want(780, 190);
  const others = new OtherLoad();
  await pass(10);
  const before = used(await pass(15));
  load.want(190, 780);
  const turn = await pass(2);
  const after = await pass(15);
  const moved = used(after);
  load.want(1500, 1500);
  const full = used((await pass(20)).filter(({ ms }, _, [first]) => ms > first.ms + SETTLE_MS));
  const most = mostInWindow(load.samples, 5, consumedOf);
  // The former one has a backlog by then, and half of the quota is due to it until that is gone.
  const settledMs = reachedAfter([...turn, ...after], 1, (0.95 * QUOTA) / 2, consumedOf);
  console.log(`dispatch, second by second:\n${seen.join('\n')}`);
  console.log('dispatch:', { before, settledMs, moved, full, most });
  expect(most).toBeLessThanOrEqual(1.03 * 5 * QUOTA);
  if (others.isTooMuch('dispatch')) return;
  expect(before.part).toBeGreaterThanOrEqual(0.97);
  expect(settledMs).toBeLessThanOrEqual(2000);
  expect(moved.part).toBeGreaterThanOrEqual(0.97);
  expect(full.part).toBeGreaterThanOrEqual(0.97);
});

test('a node killed -9, and frozen: its broker keeps the share, then has quota ÷ brokers, and follows again', async () => {
  const load = await loadOf(await cluster.group('nodes', { publishRateInMsgs: QUOTA }));
  load.want(1500, 1500);
  const isAlone = async () => (await cluster.alone('nodes'))[0] === 1;
  onTestFinished(() => cluster.nodes[0].kill('SIGCONT'));
  for (const how of ['SIGKILL', 'SIGSTOP'] as const) {
    // A node that has just started gives its broker what it has itself, and that rises for some seconds.
    await sleep(SETTLE_MS);
    const beganMs = Date.now();
    cluster.nodes[0].kill(how);
    const aloneMs = await until(isAlone, ISOLATION_MS + NOTICED_MS, 'the broker is alone');
    expect(aloneMs).toBeGreaterThan(ISOLATION_MS - 500);
    expect((await cluster.shares('nodes'))[0]).toBe(QUOTA / 2);
    await sleep(5000);
    const [rate = 0] = perSecond(load.since(beganMs));
    console.log(`${how}: alone after ${Math.round(aloneMs)} ms, ${perSecond(load.since(beganMs))} meanwhile`);
    expect(Math.abs(rate / (QUOTA / 2) - 1)).toBeLessThan(0.1);
    if (how === 'SIGKILL') await cluster.startNode(0);
    else cluster.nodes[0].kill('SIGCONT');
    await until(async () => !(await isAlone()), 30_000, 'the broker follows again');
  }
  await sleep(SETTLE_MS);
  const again = Date.now();
  await sleep(SETTLE_MS);
  expect(sum(perSecond(load.since(again)))).toBeLessThanOrEqual(1.03 * QUOTA);
});

test('told to keep quiet the brokers are stock, and go on when they are told to', async () => {
  const load = await loadOf(await cluster.group('quiet', { publishRateInMsgs: QUOTA }));
  load.want(1500, 1500);
  await sleep(SETTLE_MS);
  const rates: number[][] = [];
  for (const quiet of [true, false]) {
    const told = await cluster.pulsar.admin('POST', `brokers/configuration/quotameshQuiet/${quiet}`);
    expect(told.ok, await told.text()).toBe(true);
    await sleep(5000);
    const beganMs = Date.now();
    await sleep(SETTLE_MS);
    rates.push(perSecond(load.since(beganMs)));
  }
  console.log(`quiet: ${rates[0]}, then ${rates[1]}`);
  for (const rate of rates[0] ?? []) expect(rate).toBeGreaterThan(0.9 * QUOTA);
  expect(sum(rates[1] ?? [])).toBeLessThanOrEqual(1.03 * QUOTA);
});

test('quotas of −1 and 0, a name that the node refuses, and a group deleted under load', async () => {
  const load = await loadOf(await cluster.group('changing', { publishRateInMsgs: QUOTA }));
  load.want(1500, 1500);
  const rateWith = async (quota: number) => {
    await cluster.pulsar.putGroup('changing', { publishRateInMsgs: quota });
    await sleep(4000);
    return sum(await load.ratesOver(4));
  };
  const others = new OtherLoad();
  const [unlimited, none, some] = [await rateWith(-1), await rateWith(0), await rateWith(400)];
  console.log(`quota -1: ${unlimited}/s, 0: ${none}/s, 400: ${some}/s`);
  const least = others.isTooMuch('changing') ? 1.5 * QUOTA : 0.95 * 3000;
  expect(unlimited).toBeGreaterThan(least);
  expect(none).toBeLessThan(10);
  expect(Math.abs(some / 400 - 1)).toBeLessThan(0.05);

  const odd = 'odd name!';
  const oddLoad = await loadOf(await cluster.group(odd, { publishRateInMsgs: QUOTA }));
  oddLoad.want(1500, 1500);
  await sleep(5000);
  expect(await cluster.alone(odd)).toEqual([1, 1]);
  expect(await cluster.shares(odd)).toEqual([QUOTA / 2, QUOTA / 2]);

  await cluster.pulsar.admin('DELETE', 'namespaces/public/changing/resourcegroup');
  await until(
    async () => (await cluster.pulsar.admin('DELETE', 'resourcegroups/changing')).ok,
    30_000,
    'it is deleted',
  );
  const known = async () => (await (await fetch(await cluster.nodeUrl(1, '/v1/groups'))).text()).includes('"changing"');
  await until(async () => !(await known()), 10_000, 'the node has deleted it, too');
  expect(sum(await load.ratesOver(4))).toBeGreaterThan(least);
});

/** The last one: it leaves one broker. */
test('a broker killed -9: the other one has its share', async () => {
  const load = await loadOf(await cluster.group('killed', { publishRateInMsgs: QUOTA }));
  load.want(1500, 1500);
  await sleep(SETTLE_MS);
  expect(sum(await load.ratesOver(5))).toBeLessThanOrEqual(1.03 * QUOTA);
  await cluster.pulsar.brokers[1].kill();
  const tookMs = await until(
    async () => (await cluster.shares('killed'))[0] >= 0.95 * QUOTA,
    ISOLATION_MS + 5000,
    'the share of the dead broker is taken',
  );
  console.log(`killed: the other broker has all after ${Math.round(tookMs)} ms`);
});
