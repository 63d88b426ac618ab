import { describe, expect, test } from 'vitest';
import { type Entity, entityKeyOf, limitKeyOf, MARKER_NAME } from '../../../src/core/beside/kafka-quotas/entity.js';
import { Keeper, type KeeperSettings } from '../../../src/core/beside/kafka-quotas/keeper.js';
import type {
  DescribedQuota,
  ExporterPage,
  KeeperEvent,
  LimitSpec,
} from '../../../src/core/beside/kafka-quotas/keeper-events.js';
import type { KeptRecord } from '../../../src/core/beside/kafka-quotas/keeper-record.js';
import { nextWaterLevel } from '../../../src/core/beside/kafka-quotas/next-water-level.js';

const name = 'producer_byte_rate';
const NONE: ReadonlySet<string> = new Set();
const MARKERS = [{ entity: { user: null, clientId: MARKER_NAME }, name }] as const;

/** One keeper alone, whose log and Kafka answer at once. */
class Alone {
  readonly log: KeptRecord[] = [];
  readonly quotas = new Map<string, DescribedQuota>();
  readonly #keeper: Keeper;
  #nowMs = 0;

  constructor(settings: Partial<KeeperSettings> = {}) {
    this.#keeper = new Keeper({
      id: 'a',
      life: '1',
      aliveMs: 5000,
      permitMs: 2000,
      holdMs: 10_000,
      foreignChanges: 'leave',
      adoptsAtStart: false,
      ...settings,
    });
    this.#step({ kind: 'epoch' });
    this.#step({ kind: 'caught-up' });
  }

  /** How many limits it knows. */
  get known(): number {
    return this.#keeper.limits.size;
  }

  round(limits: readonly LimitSpec[], pages: readonly ExporterPage[], unseen = NONE): void {
    this.#nowMs += 1000;
    this.#step({ kind: 'beat' });
    this.#step({ kind: 'round', limits, markers: MARKERS, pages, described: [...this.quotas.values()], unseen });
    this.#step({ kind: 'woken' });
  }

  #step(event: KeeperEvent): void {
    for (const effect of this.#keeper.step(event, this.#nowMs)) {
      if (effect.kind === 'append') {
        this.log.push(...effect.records);
        this.#step({ kind: 'records', records: effect.records });
      } else if (effect.kind === 'alter') {
        for (const { entity, value } of effect.alterations) {
          const key = limitKeyOf(entity, name);
          if (value === null) this.quotas.delete(key);
          else this.quotas.set(key, { entity, name, value });
        }
      }
    }
  }
}

const clients = (count: number, from = 0): Entity[] =>
  Array.from({ length: count }, (_, at) => ({ user: null, clientId: `client-${from + at}` }));

const pagesOf = (entities: readonly Entity[], brokers = 3): ExporterPage[] =>
  Array.from({ length: brokers }, (_, broker) => {
    const readings = entities.map((entity, at) => {
      return { entity, name, reading: { rate: 1000 * ((at + broker) % 7), throttleMs: 5 } } as const;
    });
    return { exporter: `broker-${broker}`, problem: null, readings };
  });

const specsOf = (entities: readonly Entity[], groupOf = (at: number) => `group-${at}`): LimitSpec[] =>
  entities.map((entity, at) => ({ entity, name, quota: 1e6, group: groupOf(at) }));

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('many entities', () => {
  // In proportion to the square of their number, a round took 2 s for 1,000 of one group.
  test.each([
    ['a group each', undefined],
    ['one group', () => 'all'],
  ])('1,500 of %s: six rounds take less than 2 s of CPU', (_, groupOf) => {
    const alone = new Alone();
    const entities = clients(1500);
    const [specs, pages] = [specsOf(entities, groupOf), pagesOf(entities)];
    const spent = cpuMsOf(() => {
      for (let round = 0; round < 6; round++) alone.round(specs, pages);
    });
    console.log(`6 rounds of 1,500 entities: ${Math.round(spent)} ms of CPU`);
    // The one more makes clients visible.
    expect(alone.quotas.size).toBe(1501);
    expect(spent).toBeLessThan(2000);
  });

  test('a default that 150,000 clients have', () => {
    const sharers = Array.from({ length: 150_000 }, (_, at) => {
      const reading = { rate: at % 1000, throttleMs: 0 };
      return [reading, reading];
    });
    expect(nextWaterLevel({ quota: 1e6, inForce: null, sharers })).toBe(625_000);
  });

  test('of a pattern that come and go: ten minutes after the last look they are given back, and nothing is kept of them', () => {
    const alone = new Alone();
    const set = { user: null, clientId: 'client-7' };
    const gone = new Set<string>();
    for (let wave = 0; wave < 5; wave++) {
      const entities = clients(40, 40 * wave);
      for (let round = 0; round < 130; round++) alone.round(specsOf(entities), pagesOf(entities), gone);
      for (const entity of entities) gone.add(entityKeyOf(entity));
    }
    expect(alone.known).toBeLessThan(280);
    alone.quotas.set(limitKeyOf(set, name), { entity: set, name, value: 4711 });
    for (let round = 0; round < 605; round++) alone.round([], pagesOf([]), gone);
    // What somebody else has written meanwhile stays, and so does what makes clients visible.
    expect([...alone.quotas.values()].map(({ value }) => value).sort()).toEqual([1e15, 4711]);
    expect(alone.known).toBe(1);
    const kept = new Map(alone.log.map(({ key, record }) => [key, record]));
    const limits = [...kept].filter(([key, record]) => key.startsWith('limit/') && record !== null);
    expect(limits).toHaveLength(1);
  });

  test('of a pattern that had a quota that was adopted: that is put back', () => {
    const alone = new Alone({ foreignChanges: 'adopt' });
    const entities = clients(1);
    const [entity] = entities as [Entity];
    const valueNow = () => alone.quotas.get(limitKeyOf(entity, name))?.value;
    alone.quotas.set(limitKeyOf(entity, name), { entity, name, value: 123_456 });
    for (let round = 0; round < 10; round++) alone.round(specsOf(entities), pagesOf(entities));
    expect(valueNow()).not.toBe(123_456);
    for (let round = 0; round < 605; round++) alone.round([], pagesOf([]), new Set([entityKeyOf(entity)]));
    expect(valueNow()).toBe(123_456);
    expect(alone.known).toBe(0);
  });

  test('of a pattern that is seen again in time: nothing is put back', () => {
    const alone = new Alone();
    const entities = clients(3);
    for (let round = 0; round < 20; round++) alone.round(specsOf(entities), pagesOf(entities));
    const unseen = new Set(entities.map(entityKeyOf));
    for (let round = 0; round < 590; round++) alone.round([], pagesOf([]), unseen);
    for (let round = 0; round < 20; round++) alone.round(specsOf(entities), pagesOf(entities));
    for (let round = 0; round < 590; round++) alone.round([], pagesOf([]), unseen);
    expect(alone.quotas.size).toBe(4);
  });
});
