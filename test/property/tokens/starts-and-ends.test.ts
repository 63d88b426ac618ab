import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { UNLIMITED } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const WORLDS = 20;
const HAPPENINGS = 60;
const QUOTAS = [
  { perSecond: 60 / 3600, depth: 60 },
  { perSecond: 1000 / 86_400, depth: 1000 },
  { perSecond: 10, depth: 100 },
  { perSecond: 100, depth: 30 },
  { perSecond: 1, depth: 60 },
];
/** So many depths nodes take together before they know of each other. */
const TOGETHER = 3;
const PAUSES_MS = [0, 5, 20, 200, 1000, 5000, 30_000];

/** Counts what was granted beyond the quota since the worst moment: outside of the core, and with nothing of it. */
class Excess {
  most = 0;
  readonly #perSecond: number;
  #now = 0;
  #atMs = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  granted(nowMs: number): void {
    this.#now = Math.max(0, this.#now - (this.#perSecond * (nowMs - this.#atMs)) / 1000) + 1;
    this.#atMs = nowMs;
    this.most = Math.max(this.most, this.#now);
  }
}

test('no span holds more than its part of the quota and three depths, whoever starts, leaves or is killed', () => {
  const worst: number[] = [];
  for (let seed = 1; seed <= WORLDS; seed++) {
    const draw = new Random(seed * 104_729);
    const below = (most: number) => Math.floor(draw.next() * most);
    const { perSecond, depth } = QUOTAS[seed % QUOTAS.length] as (typeof QUOTAS)[number];
    const quota = { publish: [perSecond, Number.POSITIVE_INFINITY] as const, dispatch: UNLIMITED };
    const group: GroupSettings = { ...GROUP, quota, sharing: 'tokens', burst: { ...GROUP.burst, messages: depth } };
    const world = new World(seed, { ...SETTINGS, groups: [group] }, { appendMs: [1, 3], deliveryMs: [1, 8] });
    const excess = new Excess(perSecond);
    let [started, killed] = [0, 0];
    const running: string[] = [];
    const start = (nodeId = `n${started++}`) => {
      world.start(nodeId, { compacted: draw.next() < 0.8 });
      running.push(nodeId);
    };
    for (let at = 0; at < 1 + below(4); at++) start();
    world.runFor(500);
    for (let at = 0; at < HAPPENINGS; at++) {
      const chance = draw.next();
      const one = below(running.length);
      if (running.length === 0 || chance < 0.15) start();
      else if (chance < 0.3) {
        const [gone] = running.splice(one, 1) as [string];
        world.node(gone).leave();
        world.runFor(below(50));
        if (draw.next() < 0.7) start(gone);
      } else if (chance < 0.36) {
        killed += 1 / running.length;
        const [gone] = running.splice(one, 1) as [string];
        world.node(gone).crash();
        if (draw.next() < 0.7) start(gone);
      } else {
        for (let asked = draw.next() < 0.5 ? 4 * depth : below(5); asked > 0; asked--) {
          const node = draw.next() < 0.8 ? one : below(running.length);
          if (world.ask(running[node] as string, 0, 1, 0, false)) excess.granted(world.nowMs);
        }
      }
      world.runFor(PAUSES_MS[below(PAUSES_MS.length)] as number);
    }
    const most = (TOGETHER + killed) * depth + 2 * running.length;
    worst.push(excess.most / depth);
    expect(excess.most, `seed ${seed}: ${perSecond}/s, ${depth} deep, ${killed} killed`).toBeLessThanOrEqual(most);
  }
  // It is asked for at many nodes at once, and more than one depth is taken.
  expect(Math.max(...worst)).toBeGreaterThan(1.2);
}, 60_000);
