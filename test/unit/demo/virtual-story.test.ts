import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Random } from '../../../sim/cluster/random.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { STORY_CONFIG_FILE } from '../../../src/tools/demo/processes/state-folder.js';
import { type Act, actsFor, STORY_BURST, STORY_QUOTA, VICTIM } from '../../../src/tools/demo/story/acts.js';
import { type ActTallies, StoryTraffic } from '../../../src/tools/demo/story/story-traffic.js';
import type { Work } from '../../../src/tools/demo/traffic/node-clients.js';
import { actEnding, actHeading, storyEnding } from '../../../src/tools/demo/view/act-text.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { someOf } from '../../property/seed.js';
import { ask, type VirtualNode, virtualNode } from './virtual-cluster.js';
import { VirtualTime } from './virtual-time.js';

/** The story of `npm start` in one process and in virtual time: production nodes and clients; HTTP and topic are delays. */
const CONFIG = parse(readFileSync(STORY_CONFIG_FILE, 'utf8'));
const NODES = 3;
/** What a static split lets through, as a part of the central bucket's figure: the quotas and times of each act make it so. */
const SPLIT = [
  [1, 1],
  [0.33, 0.35],
  [0.4, 0.5],
  [0.65, 0.8],
  [0.8, 0.95],
  [0.95, 1.02],
] as const;
/** From the start of a process until its node is ready. */
const START_MS = 1000;

let time: VirtualTime;
beforeEach(() => {
  time = new VirtualTime();
});
afterEach(() => time.end());

test('examples/story.yaml has the quota and the burst of the story', () => {
  expect(CONFIG.groups.requests).toEqual({
    quota: { publish: { messagesPerSecond: STORY_QUOTA } },
    burst: { messages: STORY_BURST },
  });
});

test.each(someOf([1, 2]))(
  'every act is good, and the other systems have the figures that its words say, seed %i',
  async (seed) => {
    const told = await tell(new Random(seed));
    console.log(storyEnding(told, 60).join('\n'));
    for (const [at, [act, tallies]] of told.entries()) {
      console.log([...actHeading(act, at + 1, told.length), ...actEnding(act, tallies)].join('\n'));
    }
    expect(
      told.filter(([{ figure }, { ours, central }]) => !figure.isGood(ours, central)).map(([{ title }]) => title),
    ).toEqual([]);
    const split = told.map(([{ figure }, tallies]) => figure.of(tallies.split) / figure.of(tallies.central));
    for (const [at, [least, most]] of SPLIT.entries()) {
      expect(split[at], told[at]?.[0].title).toBeGreaterThanOrEqual(least);
      expect(split[at], told[at]?.[0].title).toBeLessThanOrEqual(most);
    }
  },
);

async function tell(random: Random): Promise<(readonly [Act, ActTallies])[]> {
  const log = createMemoryLog();
  const nodes: (VirtualNode | null)[] = Array.from({ length: NODES }, (_, at) => virtualNode(CONFIG, log, at));
  const started = Promise.all(nodes.map((each) => each?.node.start()));
  await time.advance(2000);
  await started;
  const acquire = nodes.map((_, at) => async (work: Work) => {
    const asked = nodes[at];
    return asked ? ask(asked.node, 'requests', work) : ({ kind: 'unavailable', retryAfterMs: 100 } as const);
  });
  const traffic = new StoryTraffic({ acquire, random: () => random.next() });
  const told: (readonly [Act, ActTallies])[] = [];
  for (const act of actsFor(NODES)) {
    let tallies: ActTallies | null = null;
    void traffic.play(act.stretches).then((all) => {
      tallies = all;
    });
    if (act.happening !== null) {
      await time.advance(act.happening.atMs);
      await happen(act.happening.kind);
    }
    while (tallies === null) await time.advance(100);
    told.push([act, tallies]);
  }
  traffic.end();
  const closed = Promise.all(nodes.map((each) => each?.node.close()));
  await time.advance(5000);
  await closed;
  return told;

  async function happen(kind: 'kill' | 'start' | 'halve'): Promise<void> {
    if (kind === 'kill') {
      nodes[VICTIM]?.silence();
      nodes[VICTIM] = null;
      traffic.nodeGone(VICTIM);
    } else if (kind === 'start') {
      await time.advance(START_MS);
      const again = virtualNode(CONFIG, log, VICTIM, NODES);
      void again.node.start();
      await time.advance(1000);
      nodes[VICTIM] = again;
      traffic.nodeBack(VICTIM);
    } else {
      const half = { ...CONFIG, groups: { requests: { ...CONFIG.groups.requests, quota: HALF } } };
      for (const each of nodes)
        each?.node.yaml.take(resolveConfig({ ...half, topic: 'memory' }, { source: '(virtual)' }));
      traffic.setQuota(STORY_QUOTA / 2);
    }
  }
}

const HALF = { publish: { messagesPerSecond: STORY_QUOTA / 2 } };
