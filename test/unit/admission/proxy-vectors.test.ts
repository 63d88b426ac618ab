import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import type { WholeNode } from '../../whole-node.js';
import { casesOf, type ProxyTableCase } from '../core/target/gtt-vectors.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

/**
 * What FoundationDB asserts of the queues of a proxy, one per tag, by the lines of whoever waits. A tag is a group, its
 * rate the group's quota, a request an acquire that may wait.
 */
describe('the queues of a proxy', () => {
  let scene: HttpScene | null = null;
  afterEach(() => scene?.close());

  test.each(casesOf('proxyOrder'))('$id: who is not limited is served in the order of arrival', async (one) => {
    expect(one.ratesTps).toEqual({});
    const tags = Object.keys(one.requests.tags);
    scene = await readyScene({ groups: Object.fromEntries(tags.map((tag) => [tag, {}])) });
    const { node } = scene;
    const arrivals = shuffled(tags.flatMap((tag) => new Array<string>(one.requests.tags[tag]).fill(tag)));
    expect(arrivals).toHaveLength(one.requests.total);
    const served: string[] = [];
    const waits = arrivals.map(async (tag, at) => {
      const { granted } = await node.acquire(tag, { messages: 1 }, { client: `${at % 7}`, waitMs: 5000 });
      if (granted) served.push(`${tag} ${at}`);
    });
    await Promise.all(waits);
    expect(served).toEqual(arrivals.map((tag, at) => `${tag} ${at}`));
  });

  test.each(casesOf('proxyTable'))('$id: groups that are gone leave nothing behind', async (one) => {
    scene = await readyScene({ groups: {} });
    if ('each' in one) await expectFreshRates(scene.node, one);
    else await expectSteps(scene.node, one);
  });
});

/** The quota of the vector, which names it in words. */
const FRESH_RATE_TPS = 10;

async function expectFreshRates(node: WholeNode, one: Extract<ProxyTableCase, { readonly each: string }>) {
  expect(one.each).toBe(`set the rates to one fresh tag at ${FRESH_RATE_TPS}`);
  for (let at = 0; at < one.repeat; at++) {
    setRates(node, { [`tag-${at}`]: FRESH_RATE_TPS });
    // A lane is in the tables from its first request on.
    node.tryAcquire(`tag-${at}`, { messages: 1 });
    expect(tableOf(node).size, `after ${at + 1} rates`).toBe(one.expectSizeAfterEach);
    // A node whose loop stands still for a second has no valid shares any more, and serves nobody.
    if (at % 10 === 0) await turn();
  }
}

/** The requests of a tag wait here only while its rate makes them wait, so it has a rate at first that admits nothing. */
async function expectSteps(
  node: WholeNode,
  { steps }: Extract<ProxyTableCase, { readonly steps: readonly unknown[] }>,
) {
  const waits: Promise<unknown>[] = [];
  for (const step of steps) {
    if (step.op === 'addRequest') {
      setRates(node, { [step.tag]: 0 });
      waits.push(node.acquire(step.tag, { messages: 1 }, { waitMs: 60_000 }));
      expect(node.gate.waiting.count).toBe(1);
    } else if (step.op === 'setRates') {
      expect(step.rates).toEqual({});
      setRates(node, step.rates);
    } else if (step.op === 'release') {
      expect(await Promise.all(waits)).toEqual([expect.objectContaining({ granted: true })]);
    } else {
      throw new Error(`unknown op ${(step as { readonly op: string }).op}`);
    }
    if ('expectSize' in step) expect(tableOf(node).size, step.op).toBe(step.expectSize);
  }
  expect(node.gate.waiting.count).toBe(0);
}

/** A group that has no rate any more and nobody who waits goes; one with somebody loses its quota first. */
function setRates(node: WholeNode, rates: Readonly<Record<string, number>>): void {
  for (const [name, group] of node.groups.numbers) {
    if (rates[name] !== undefined) continue;
    if (node.limiter.heldBack[2 * group] === 0) node.inForce.remove(name);
    else define(node, name, {});
  }
  for (const [name, messagesPerSecond] of Object.entries(rates)) {
    define(node, name, { quota: { publish: { messagesPerSecond } } });
  }
}

function define(node: WholeNode, name: string, group: object): void {
  node.inForce.define(examineGroup(name, group, '(test)').config!);
}

/** Lanes that the node serves, or in which somebody waits. */
function tableOf(node: WholeNode): ReadonlySet<number> {
  const lanes = new Set(node.coordinator?.lanes.keys());
  for (let lane = 0; lane < node.limiter.laneCount; lane++) {
    if (node.limiter.heldBack[lane] !== 0) lanes.add(lane);
  }
  return lanes;
}

function shuffled(tags: string[]): readonly string[] {
  const random = new Random(1);
  for (let at = tags.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [tags[at], tags[other]] = [tags[other], tags[at]];
  }
  return tags;
}
