import { describe, expect, test } from 'vitest';
import { FALL_RATIO } from '../../../src/core/beside/constants.js';
import { APP, MARKER, PRODUCED, QuotaScene } from './quota-scene.js';

const QUOTA = 500_000;
const SETTLED_AFTER_SECONDS = 15;

function total(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** Wants of each broker, by which the quota is more than used. */
const SKEWS: readonly (readonly number[])[] = [
  [800_000, 100_000],
  [800_000, 0],
  [800_000, 800_000],
  [300_000, 300_000],
  [800_000, 50_000, 200_000],
  [900_000, 900_000, 100_000, 100_000, 10_000],
];

describe('the sum over all brokers, means over one second', () => {
  test.each(SKEWS.map((wants) => [wants]))('wants of %j: within 5 % of the quota over 20 s', (wants) => {
    const scene = QuotaScene.running(SETTLED_AFTER_SECONDS, { wants });
    expect(Math.abs(total(scene.run(20)) / QUOTA - 1)).toBeLessThan(0.05);
  });

  test('demand moves to the other broker: within 10 % after 5 s, within 5 % over the 20 s after that', () => {
    const scene = QuotaScene.running(SETTLED_AFTER_SECONDS);
    scene.wants(100_000, 800_000);
    scene.run(4);
    expect(Math.abs(total(scene.run(1)) / QUOTA - 1)).toBeLessThan(0.1);
    expect(Math.abs(total(scene.run(20)) / QUOTA - 1)).toBeLessThan(0.05);
  });

  test('a leader moves, and with it all that was wanted: the client has the quota again within 5 s', () => {
    const scene = QuotaScene.running(SETTLED_AFTER_SECONDS, { wants: [400_000, 400_000] });
    expect(scene.valueInForce).toBe(QUOTA / 2);
    scene.wants(0, 800_000);
    scene.run(4);
    expect(total(scene.run(1))).toBeGreaterThan(0.9 * QUOTA);
  });

  test('who wants less than the quota gets all of it', () => {
    const scene = QuotaScene.running(SETTLED_AFTER_SECONDS, { wants: [300_000, 50_000] });
    expect(total(scene.run(20))).toBeGreaterThan(0.98 * 350_000);
  });

  test('the default of eleven spans holds the mean over a minute', () => {
    const scene = QuotaScene.running(30, { windows: 11 });
    expect(Math.abs(total(scene.run(60)) / QUOTA - 1)).toBeLessThan(0.1);
  });
});

describe('what is written', () => {
  test('whole numbers, no fall by more than a fifth, at most one per entity and second', () => {
    const scene = QuotaScene.running(20);
    scene.wants(800_000, 800_000);
    scene.run(20);
    scene.wants(50_000, 700_000);
    scene.run(20);
    const written = scene.written.filter(({ entity }) => entity.clientId === APP.clientId);
    expect(written.length).toBeGreaterThan(5);
    for (const [at, { value, atMs }] of written.entries()) {
      expect(Number.isInteger(value)).toBe(true);
      const before = written[at - 1];
      if (before === undefined) continue;
      expect(value as number).toBeGreaterThanOrEqual(Math.floor(FALL_RATIO * (before.value as number)));
      expect(atMs - before.atMs).toBeGreaterThanOrEqual(1000);
    }
  });

  test('nothing while nothing changes', () => {
    const scene = QuotaScene.running(20);
    const count = scene.written.length;
    scene.run(60);
    expect(scene.written.length - count).toBeLessThanOrEqual(3);
  });

  test('a quota that nobody has comes first where Kafka shows nobody, and not where it does', () => {
    const scene = QuotaScene.running(20);
    expect(scene.written[0]).toMatchObject({ ...MARKER, value: 1e15 });
    const shown = new QuotaScene();
    shown.set({ user: null, clientId: 'other' }, 1000);
    shown.run(20);
    expect(shown.written.map(({ entity }) => entity.clientId)).not.toContain(MARKER.entity.clientId);
  });

  test('the quota is halved: the value follows in steps', () => {
    const scene = QuotaScene.running(20);
    scene.specs = [{ entity: APP, name: PRODUCED, quota: QUOTA / 2, group: 'app' }];
    scene.run(15);
    expect(Math.abs(total(scene.run(20)) / (QUOTA / 2) - 1)).toBeLessThan(0.05);
  });

  test('a quota of 0 ends at 1 byte per second: Kafka takes no 0', () => {
    const scene = new QuotaScene({ wants: [8000, 1000] });
    scene.specs = [{ entity: APP, name: PRODUCED, quota: 0, group: 'app' }];
    scene.run(60);
    expect(scene.valueInForce).toBe(1);
  });
});

describe('exporters', () => {
  test('one is gone: its broker has what it had for 10 s, then it is taken to want everything', () => {
    const scene = QuotaScene.running(20);
    scene.exportersAway.add(1);
    scene.run(9);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
    scene.run(10);
    expect(scene.valueInForce).toBe(QUOTA / 2);
    expect(scene.keeper('a').said('exporter gives no page')).toHaveLength(1);
    scene.exportersAway.clear();
    scene.run(5);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
    expect(scene.keeper('a').said('exporter is back')).toHaveLength(1);
  });

  test('all are gone: every broker gets its part, which no two of them can exceed', () => {
    const scene = QuotaScene.running(20);
    scene.exportersAway.add(0).add(1);
    scene.run(25);
    expect(scene.valueInForce).toBe(QUOTA / 2);
  });

  test('one has rules that match nothing: named, with whom it should have told of', () => {
    const scene = new QuotaScene();
    scene.exportersEmpty.add(1);
    scene.run(30);
    const [line, ...others] = scene.keeper('a').said('without any client’s rate');
    expect(line?.facts).toMatchObject({ exporter: 'broker-2', expected: 'client-id=app' });
    expect(String(line?.facts.remedy)).toContain('deploy/kafka/jmx.yml');
    expect(others).toEqual([]);
  });
});
