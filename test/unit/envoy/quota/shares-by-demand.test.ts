import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QUOTA, sum, TwoNodes } from '../../enforcers/two-nodes.js';
import { ModelledEnvoy } from './modelled-envoy.js';

const TURN_MS = 50;
/** In which everybody has reported twice. */
const TWO_REPORTS_SECONDS = 11;
const MOST_ABOVE = 1.02;
const USED_LEAST = 0.97;

describe('Envoys of two nodes with one quota', () => {
  let scene: TwoNodes;
  beforeEach(async () => {
    scene = await TwoNodes.start();
  });
  afterEach(() => scene.close());

  /** At the nodes by turns. */
  const envoys = (...wishes: readonly number[]) => {
    return wishes.map((wish, at) => new ModelledEnvoy(scene.nodes[at % 2]!, `envoy ${at}`, wish, 300 * at));
  };

  /** The most and the least that all admitted over any 10 s, as parts of the quota, and the whole per second. */
  const judge = async (proxies: readonly ModelledEnvoy[], seconds: number) => {
    const totals: number[] = [];
    const each = proxies.map(() => 0);
    for (let second = 0; second < seconds; second++) {
      const rates = await scene.pass(proxies, 1, TURN_MS);
      for (const [at, rate] of rates.entries()) each[at]! += rate / seconds;
      totals.push(sum(rates));
    }
    const spans = totals.slice(9).map((_, at) => sum(totals.slice(at, at + 10)) / (10 * QUOTA));
    console.log(`${each.map(Math.round).join(' + ')}, 10 s: ${Math.min(...spans)} to ${Math.max(...spans)}`);
    return { each, most: Math.max(...spans), used: sum(each) / QUOTA };
  };

  it.each([
    ['one wants all of it, three a tenth', [1000, 100, 100, 100]],
    ['all want twice of it', [2000, 2000]],
    ['many, half of them little', [400, 20, 400, 20, 400, 20, 400, 20]],
  ])('%s: the quota is used and kept, over any 10 s after two reports', async (_, wishes) => {
    const proxies = envoys(...wishes);
    await scene.pass(proxies, TWO_REPORTS_SECONDS, TURN_MS);
    const { each, most, used } = await judge(proxies, 30);
    expect(used).toBeGreaterThanOrEqual(USED_LEAST);
    expect(most).toBeLessThanOrEqual(MOST_ABOVE);
    // Who wants little has it, but for what a bucket of a tenth of a second refuses by chance.
    for (const [at, wish] of wishes.entries()) if (wish <= 100) expect(each[at]).toBeGreaterThanOrEqual(0.9 * wish);
  });

  it.each(['with', 'after'])('little that comes in clumps of 300 ms passes that begins %s much', async (when) => {
    const proxies = envoys(1500, 100);
    proxies[1]!.clumpMs = 300;
    if (when === 'after') await scene.pass(proxies.slice(0, 1), TWO_REPORTS_SECONDS, TURN_MS);
    await scene.pass(proxies, TWO_REPORTS_SECONDS, TURN_MS);
    const { each, most, used } = await judge(proxies, 20);
    expect(each[1]).toBeGreaterThanOrEqual(0.9 * 100);
    expect(most).toBeLessThanOrEqual(MOST_ABOVE);
    expect(used).toBeGreaterThanOrEqual(USED_LEAST);
  });

  it('demand that moves is followed within two reports, and the quota is kept meanwhile', async () => {
    const proxies = envoys(1500, 50);
    await scene.pass(proxies, TWO_REPORTS_SECONDS, TURN_MS);
    for (const proxy of proxies) proxy.wish = 1550 - proxy.wish;
    const moving = await judge(proxies, TWO_REPORTS_SECONDS);
    expect(moving.most).toBeLessThanOrEqual(MOST_ABOVE);
    const moved = await judge(proxies, 20);
    expect(moved.most).toBeLessThanOrEqual(MOST_ABOVE);
    expect(moved.used).toBeGreaterThanOrEqual(USED_LEAST);
    expect(moved.each[1]).toBeGreaterThanOrEqual(0.9 * 950);
  });

  it('one that is cut off keeps its share until it ends, and never more; then the others have it', async () => {
    const proxies = envoys(2000, 2000);
    await scene.pass(proxies, TWO_REPORTS_SECONDS, TURN_MS);
    const [cut] = proxies as [ModelledEnvoy];
    cut.isCutOff = true;
    const before = cut.admitted;
    const alone = await judge(proxies, 30);
    expect(alone.most).toBeLessThanOrEqual(MOST_ABOVE);
    // Nothing passes after the end of what it was told: 15 s at most since the last renewal.
    expect(cut.admitted - before).toBeLessThanOrEqual(MOST_ABOVE * 15 * (QUOTA / 2));
    const others = await judge(proxies, 20);
    expect(others.each[0]).toBe(0);
    expect(others.used).toBeGreaterThanOrEqual(USED_LEAST);
  });

  it('one that goes away gives back at once', async () => {
    const proxies = envoys(2000, 2000);
    await scene.pass(proxies, TWO_REPORTS_SECONDS, TURN_MS);
    const [gone, stays] = proxies as [ModelledEnvoy, ModelledEnvoy];
    gone.book.end();
    await scene.pass([stays], 2, TURN_MS);
    const { used } = await judge([stays], 10);
    expect(used).toBeGreaterThanOrEqual(USED_LEAST);
  });
});
