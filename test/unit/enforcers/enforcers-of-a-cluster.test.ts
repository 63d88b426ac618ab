import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { directionIndex, laneOf, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { silentTelemetry } from '../../../src/ports/telemetry.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from '../demo/virtual-time.js';

const QUOTA = 1000;
const TURN_MS = 100;
/** The default of isolation.holdMs. */
const HOLD_SECONDS = 10;

/** Wants `wish`/s of its node, admits what it is told to, and tells ten times a second. */
class WishingProxy {
  admitted = 0;
  rate = 0;
  wish: number;
  readonly #node: WholeNode;

  constructor(node: WholeNode, wish: number) {
    this.#node = node;
    this.wish = wish;
  }

  async turn(): Promise<void> {
    const lane = laneOf(this.#node.gate.groupIndex('orders'), directionIndex('publish'));
    const isHeldBack = this.rate < this.wish;
    const lanes = [{ lane, admitted: [Math.floor(this.admitted), 0] as const, isHeldBack }];
    const patience = { seen: null, waitMs: 0, signal: new AbortController().signal };
    const report = { enforcer: 'proxy', life: 1, ttlMs: 3000, lanes };
    const { parts } = await this.#node.enforcers.report(report, patience);
    const [part] = parts;
    this.rate = part?.isKnown ? (part.rate[MESSAGES] as number) : 0;
    this.admitted += (Math.min(this.wish, this.rate) * TURN_MS) / 1000;
  }
}

describe.each(['tokens', 'rates'])('two nodes with an enforcer each, sharing %s', (sharing) => {
  let time: VirtualTime;
  let log: MemoryLog;
  let nodes: WholeNode[];
  let proxies: WishingProxy[];

  beforeEach(async () => {
    time = new VirtualTime();
    log = createMemoryLog();
    const groups = { orders: { sharing, quota: { publish: { messagesPerSecond: QUOTA } } } };
    nodes = ['a', 'b'].map((node, nonce) => {
      const config = resolveConfig({ cluster: 'enforced', topic: 'memory', groups, node }, { source: '(test)' });
      const clock = () => performance.now();
      const topic = new MemoryTopic(log);
      return new WholeNode({ config, topic, telemetry: silentTelemetry, version: '0', nonce, clock });
    });
    const started = Promise.all(nodes.map((node) => node.start()));
    await time.advance(3000);
    await started;
    proxies = nodes.map((node) => new WishingProxy(node, 900));
  });

  afterEach(async () => {
    log.resumeAppends();
    const closed = Promise.all(nodes.map((node) => node.close()));
    await time.advance(5000);
    await closed;
    time.end();
  });

  /** Returns what each admitted per second. */
  async function pass(seconds: number): Promise<number[]> {
    const before = proxies.map(({ admitted }) => admitted);
    for (let turn = 0; turn < (1000 * seconds) / TURN_MS; turn++) {
      for (const proxy of proxies) await proxy.turn();
      await time.advance(TURN_MS);
    }
    return proxies.map(({ admitted }, at) => (admitted - (before[at] as number)) / seconds);
  }

  const total = (rates: readonly number[]) => rates.reduce((sum, rate) => sum + rate, 0);

  it('share one quota, and two seconds after a turn the busier one has what the other leaves', async () => {
    await pass(5);
    const equal = await pass(10);
    Object.assign(proxies[1] as WishingProxy, { wish: 50 });
    await pass(2);
    const uneven = await pass(10);
    Object.assign(proxies[0] as WishingProxy, { wish: 50 });
    Object.assign(proxies[1] as WishingProxy, { wish: 900 });
    await pass(2);
    const turned = await pass(10);
    console.log(
      `sharing ${sharing}:`,
      [equal, uneven, turned].map((rates) => rates.map(Math.round).join(' + ')),
    );
    for (const rates of [equal, uneven, turned]) expect(total(rates)).toBeLessThanOrEqual(1.02 * QUOTA);
    expect(total(equal)).toBeGreaterThanOrEqual(0.95 * QUOTA);
    for (const rates of [uneven, turned]) expect(total(rates)).toBeGreaterThanOrEqual(0.95 * 950);
  });

  it('with the topic away keep what they have, then get what the isolation policy admits, and never more', async () => {
    await pass(5);
    Object.assign(proxies[1] as WishingProxy, { wish: 300 });
    await pass(10);
    log.pauseAppends();
    const held = await pass(HOLD_SECONDS / 2);
    expect(total(held)).toBeLessThanOrEqual(1.02 * QUOTA);
    expect(held[0]).toBeGreaterThanOrEqual(600);
    await pass(2 * HOLD_SECONDS);
    const isolated = await pass(10);
    expect(total(isolated)).toBeLessThanOrEqual(1.02 * QUOTA);
    expect(isolated[1]).toBeGreaterThanOrEqual(290);
    log.resumeAppends();
    await pass(10);
    expect(total(await pass(10))).toBeGreaterThanOrEqual(0.95 * QUOTA);
  });
});
