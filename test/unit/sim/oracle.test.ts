import { describe, expect, it } from 'vitest';
import type { SimulatedNode } from '../../../sim/cluster/simulated-node.js';
import { SILENT_TIMEOUT_MS } from '../../../sim/cluster/simulated-topic.js';
import { World } from '../../../sim/cluster/world.js';
import { GroupLedger } from '../../../sim/oracle/group-ledger.js';
import { Oracle } from '../../../sim/oracle/oracle.js';
import { groupIdOf } from '../../../src/core/base/ids.js';
import { createEffects } from '../../../src/core/base/protocol/events-and-effects.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { GATED, GROUP, SETTINGS } from '../../simulation/settings.js';
import { scaleLimits } from './scale-limits.js';

const NODES = ['a', 'b', 'c'];

/** Three nodes that want more than there is; whole after 6 s. */
function judged(group: GroupSettings = GATED) {
  const world = new World(9, { ...SETTINGS, groups: [{ ...group }, { ...group, name: 'parts', strategy: 'equal' }] });
  const oracle = new Oracle(world);
  world.observer = oracle;
  for (const node of NODES) world.start(node);
  for (const node of NODES) for (const lane of [0, 2]) world.drive({ node, lane, ratePerSecond: () => 600 });
  const decide = (node: SimulatedNode, what: 'applied' | 'depth', amount: number) => {
    node.coordinator.shares[what][0] = amount;
    oracle.stepped(node, { kind: 'round-elapsed' }, { ...createEffects(), decidedLanes: [0] });
  };
  const promises = () => [...new Set(oracle.violations.first.map(({ promise }) => promise))];
  const check = () => {
    oracle.check();
    world.queue.after(100, check);
  };
  check();
  world.runFor(6000);
  return { world, oracle, promises, decide };
}

/** For 2 s the limiter of b takes `factor` of its limits for the whole. */
function runWithLimiterOfB(world: World, factor: number): void {
  const { limiter, coordinator } = world.node('b');
  scaleLimits(limiter, factor);
  const { applied, depth } = coordinator.shares;
  limiter.setLimit(0, MESSAGES, applied[0], depth[0], world.nowMs);
  world.runFor(2000);
}

/** Node b counts five messages that nobody took. */
function countTwice(world: World): void {
  const { tokens, usageMap, membership, nodeKey, settings } = world.node('b').coordinator;
  const source = { nodeKey, slot: membership.get(nodeKey)!.slot, spanMs: 0, pauseMs: 0, isElsewhere: false };
  tokens.charge(usageMap.mapLaneOf(groupIdOf(settings.cluster, 'orders'), 0), source, 5, 0, true);
}

describe('the oracle', () => {
  it('has nothing against a cluster that works', () => {
    const { world, oracle } = judged();
    oracle.expectRecovered(NODES);
    world.runFor(5000);
    expect(oracle.violations.first).toEqual([]);
  });

  it('sees a limiter that grants a tenth more than its limit says, within 2 s', () => {
    const { world, promises } = judged();
    runWithLimiterOfB(world, 1.1);
    expect(promises()).toEqual(['admissions']);
  });

  it('sees log time that goes on by 5 ms less than the log’s clock', () => {
    const { world, oracle, promises } = judged();
    oracle.expectRecovered(NODES);
    world.runFor(1000);
    const [time] = world.node('b').coordinator.log.logTimes;
    time!.ms -= 5;
    world.runFor(1000);
    expect(promises()).toEqual(['log time']);
  });

  it('sees a node that refuses a tenth of what its limit brings, once all are whole', () => {
    const { world, oracle, promises } = judged();
    oracle.expectRecovered(NODES);
    runWithLimiterOfB(world, 0.9);
    expect(promises()).toEqual(['refusals']);
  });

  it('sees a division that leaves a hundredth of the target to nobody, though all nodes agree on it', () => {
    const { world, promises } = judged();
    for (const name of NODES) {
      const { shares } = world.node(name).coordinator;
      const converge = shares.converge.bind(shares);
      shares.converge = (...lane) => {
        const round = converge(...lane);
        const share = round.share[MESSAGES];
        for (let at = 0; at < round.count; at++) share[at] = share[at] * 0.99;
        return round;
      };
    }
    world.runFor(1000);
    expect(promises()).toContain('whole target');
  });

  it('sees tokens that are minted, whoever asks for them', () => {
    const { world, promises } = judged();
    const { tokens } = world.node('c').limiter.buckets;
    world.queue.after(500, () => tokens.set(0, 40 + tokens.at(0)));
    world.runFor(1000);
    expect(promises()).toEqual(['admissions']);
  });

  it('sees that one of those who have read as far has another view of the members', () => {
    const { world, oracle, promises } = judged();
    const { membership } = world.node('c').coordinator;
    membership.leave(membership.alive.find(({ nodeId }) => nodeId === 'a')!);
    oracle.check();
    expect(promises().sort()).toEqual(['applied shares', 'same view']);
  });

  it('sees a node that does not apply what it computes, and one that rises while it does not hear itself', () => {
    const { world, oracle, promises, decide } = judged();
    const node = world.node('a');
    node.coordinator.shares.applied[0] = 1;
    oracle.check();
    expect(promises()).toEqual(['applied shares']);
    node.cutOff(true);
    world.runFor(4000);
    decide(node, 'applied', 999);
    expect(promises()).toContain('isolation');
  });

  it('sees a node that counts another charge than those who follow the bucket since the same record', () => {
    const { world, oracle, promises } = judged(GROUP);
    countTwice(world);
    oracle.check();
    expect(promises()).toEqual(['same tokens']);
  });

  it('compares no bucket that a node has followed in a view of its own', () => {
    const { world, oracle, promises } = judged(GROUP);
    const node = world.node('b');
    countTwice(world);
    oracle.records.get(node)!.tokensOfItsOwn.add(groupIdOf(node.coordinator.settings.cluster, 'orders'));
    oracle.check();
    expect(promises()).toEqual([]);
  });

  it('sees a Σ of shares above the target at the very step', () => {
    const { world, promises, decide } = judged();
    decide(world.node('a'), 'applied', 900);
    expect(promises()).toEqual(['sum of shares']);
  });

  it('sees a Σ of what is held above the target while the topic is away, once all have noticed', () => {
    const { world, oracle, promises, decide } = judged();
    world.runFor(10_000);
    world.topic.isAway = true;
    world.runFor(5000);
    expect(oracle.violations.first).toEqual([]);
    // Publish of both groups, at least every 100 ms from 4.5 s on.
    expect(oracle.away.judged).toBeGreaterThanOrEqual(10);
    decide(world.node('a'), 'applied', 900);
    oracle.check();
    expect(promises()).toContain('sum while away');
  });

  it('sees a bucket deeper than is documented, and a node that does not come back', () => {
    const { world, oracle, promises, decide } = judged();
    decide(world.node('a'), 'depth', 400);
    expect(promises()).toEqual(['bursts']);
    world.node('b').crash();
    oracle.expectRecovered(NODES);
    world.runFor(500);
    expect(promises()).toContain('recovery');
  });
});

describe('a dead node that a wrong key hid from who began with a compacted log', () => {
  const OVERWRITTEN_ON = 1;

  /** Node a is dead; c counts it on a partition where b has only read what a process with a wrong key wrote. */
  function hidden() {
    const groups = [GATED, { ...GATED, name: 'parts' }];
    const world = new World(5, { ...SETTINGS, partitions: 2, groups });
    const oracle = new Oracle(world);
    world.observer = oracle;
    world.signingKey = 'right';
    for (const node of NODES) world.start(node);
    world.runFor(6000);
    world.node('a').crash();
    const wrong = world.start('a', { compacted: true, signingKey: 'wrong' });
    world.runFor(500);
    wrong.crash();
    world.node('b').crash();
    world.start('b', { compacted: true });
    world.runFor(500);
    world.topic.silence(OVERWRITTEN_ON, true);
    world.runFor(SETTINGS.stalenessMs + 5 * SETTINGS.heartbeatMs);
    const known = () => ['b', 'c'].map((name) => world.node(name).coordinator.membership.on(OVERWRITTEN_ON));
    const a = () => [...world.node('c').coordinator.membership.all()].find(({ nodeId }) => nodeId === 'a')!;
    const promises = () => {
      oracle.check();
      return [...new Set(oracle.violations.first.map(({ promise }) => promise))];
    };
    return { world, known, a, promises };
  }

  it('may be counted by others while no farewell of it can be written', () => {
    const { world, known, promises } = hidden();
    expect(known().map(({ count }) => count)).toEqual([2, 3]);
    expect(world.node('b').readOffsets.next).toEqual(world.node('c').readOffsets.next);
    expect(promises()).toEqual([]);
  });

  it('is counted by nobody once its farewell stands there', () => {
    const { world, known, a, promises } = hidden();
    world.topic.silence(OVERWRITTEN_ON, false);
    world.runFor(SILENT_TIMEOUT_MS + 2 * SETTINGS.heartbeatMs);
    expect(known().map(({ count }) => count)).toEqual([2, 2]);
    expect(promises()).toEqual([]);
    world.node('c').coordinator.membership.on(OVERWRITTEN_ON).add(a());
    expect(promises()).toEqual(['same view']);
  });

  it('is not counted as alive by anybody', () => {
    const { world, a, promises } = hidden();
    world.node('c').coordinator.membership.join(a(), 'a', 'test', 0, 0);
    expect(promises()).toEqual(['same view']);
  });
});

it('sees a record that comes behind a later one of its author, as from a queue that keeps a key in its old place', () => {
  const { world, oracle, promises } = judged();
  const last = world.topic.log.findLast(({ record }) => record !== null)!;
  world.topic.log.push({ ...last, offset: last.offset + 1 });
  oracle.check();
  expect(promises()).toEqual(['order']);
});

describe('a process that has drawn the nonce of a forerunner whose life a wrong key hides', () => {
  /** Both have one life; the second began to count its records anew. */
  function drawnAgain() {
    const world = new World(5, SETTINGS);
    const oracle = new Oracle(world);
    world.observer = oracle;
    world.signingKey = 'right';
    const forerunner = world.start('a', { nonce: 1 });
    world.start('b');
    world.runFor(3000);
    forerunner.leave();
    const wrong = world.start('a', { signingKey: 'wrong' });
    world.runFor(500);
    wrong.crash();
    const { coordinator } = world.start('a', { compacted: true, nonce: 1 });
    world.runFor(500);
    expect(coordinator.incarnation).toBe(forerunner.coordinator.incarnation);
    const promises = () => {
      oracle.check();
      return oracle.violations.first.map(({ promise }) => promise);
    };
    return { world, coordinator, promises };
  }

  it('is another process, with an order of its own', () => {
    expect(drawnAgain().promises()).toEqual([]);
  });

  it('has to keep that order', () => {
    const { world, coordinator, promises } = drawnAgain();
    const { log } = world.topic;
    const isOwn = ({ record }: (typeof log)[number]) => record?.author.nodeKey === coordinator.nodeKey;
    expect(promises()).toEqual([]);
    log.push({ ...log.findLast(isOwn)!, offset: log.length });
    expect(promises()).toEqual(['order']);
  });
});

describe('the ledger', () => {
  it('judges every window, also one that begins in the middle of a quiet time', () => {
    const ledger = new GroupLedger();
    ledger.set(100, 10);
    // 10 s of nothing save nobody anything: 10 tokens of burst and what the cap gives.
    for (let at = 0; at < 10; at++) expect(ledger.admit(1, 10_000)).toBeLessThanOrEqual(0);
    expect(ledger.admit(1, 10_000)).toBeCloseTo(1);
    expect(ledger.sinceMs).toBe(10_000);
    expect(ledger.admit(9, 10_100)).toBeCloseTo(0);
  });
});
