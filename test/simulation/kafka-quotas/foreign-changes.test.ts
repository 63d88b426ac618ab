import { describe, expect, test } from 'vitest';
import { limitKeyOf } from '../../../src/core/beside/kafka-quotas/entity.js';
import { releasePlan } from '../../../src/core/beside/kafka-quotas/release-plan.js';
import { APP, PRODUCED, QuotaScene } from './quota-scene.js';

const OPERATORS = 123_456;

function originalOf(scene: QuotaScene): number | null | undefined {
  return scene.keeper('a').keeper.limits.get(limitKeyOf(APP, PRODUCED))?.record?.original;
}

describe('a quota that an operator has set before', () => {
  test('is left alone, and named with the remedy', () => {
    const scene = new QuotaScene();
    scene.set(APP, OPERATORS);
    scene.run(60);
    expect(scene.valueInForce).toBe(OPERATORS);
    const [line, ...others] = scene.keeper('a').said('is left alone');
    expect(line?.facts).toMatchObject({ entity: 'client-id app', quota: PRODUCED, found: OPERATORS });
    expect(String(line?.facts.remedy)).toContain('--adopt');
    expect(others).toEqual([]);
  });

  test('is kept once the operator has removed it', () => {
    const scene = new QuotaScene();
    scene.set(APP, OPERATORS);
    scene.run(20);
    scene.set(APP, null);
    scene.run(20);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
  });

  test('is taken over with --adopt, and what it was stands in the log', () => {
    const scene = new QuotaScene({ settings: { adoptsAtStart: true } });
    scene.set(APP, OPERATORS);
    scene.run(30);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
    expect(originalOf(scene)).toBe(OPERATORS);
    expect(scene.keeper('a').said('is taken over')).toHaveLength(1);
  });
});

describe('a quota that somebody changes while it is kept', () => {
  test('is noticed, named, and left', () => {
    const scene = QuotaScene.running(20);
    scene.set(APP, OPERATORS);
    scene.run(20);
    expect(scene.valueInForce).toBe(OPERATORS);
    expect(scene.keeper('a').said('is left alone')).toHaveLength(1);
    expect(scene.keeper('a').keeper.counts.foreignChanges).toBe(1);
  });

  test('with foreignChanges adopt: is noticed, named, and taken over, each time', () => {
    const scene = QuotaScene.running(20, { settings: { foreignChanges: 'adopt' } });
    for (const [at, value] of [OPERATORS, OPERATORS, 77_777].entries()) {
      scene.set(APP, value);
      scene.run(20);
      expect(scene.valueInForce).toBeGreaterThan(350_000);
      expect(originalOf(scene)).toBe(value);
      expect(scene.keeper('a').said('is taken over')).toHaveLength(at + 1);
    }
  });

  test('is left even where it is what stood there before --adopt', () => {
    const scene = new QuotaScene({ settings: { adoptsAtStart: true } });
    scene.set(APP, OPERATORS);
    scene.run(30);
    scene.set(APP, OPERATORS);
    scene.run(20);
    expect(scene.valueInForce).toBe(OPERATORS);
    expect(scene.keeper('a').said('is left alone')).toHaveLength(1);
  });

  test('removed by hand: named, and written again', () => {
    const scene = QuotaScene.running(20);
    scene.set(APP, null);
    scene.run(10);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
    expect(scene.keeper('a').said('was removed by somebody else')).toHaveLength(1);
  });

  test.each([0, -1, 1e300])('set to %d: left like any other value', (value) => {
    const scene = QuotaScene.running(20);
    scene.set(APP, value);
    scene.run(10);
    expect(scene.quotas.get(limitKeyOf(APP, PRODUCED))?.value).toBe(value);
    expect(scene.keeper('a').said('is left alone')).toHaveLength(1);
  });
});

describe('a group that loses its quota', () => {
  test.each([null, OPERATORS])('gives back what was there before, %j, and keeps nothing of it', (before) => {
    const scene = new QuotaScene({ settings: { adoptsAtStart: true } });
    if (before !== null) scene.set(APP, before);
    scene.run(20);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
    const { specs } = scene;
    scene.specs = [];
    scene.unlimited = new Set([limitKeyOf(APP, PRODUCED)]);
    scene.run(5);
    expect(scene.valueInForce).toBe(before);
    expect(scene.keeper('a').said('is given back')).not.toEqual([]);
    expect(originalOf(scene)).toBeUndefined();
    // It has a quota again.
    scene.specs = specs;
    scene.unlimited = new Set();
    scene.run(20);
    if (before === null) expect(scene.valueInForce).toBeGreaterThan(350_000);
    else expect(scene.keeper('a').said('is taken over').length).toBeGreaterThan(0);
  });

  test('what somebody else has written meanwhile stays', () => {
    const scene = QuotaScene.running(20);
    scene.set(APP, OPERATORS);
    scene.run(5);
    scene.specs = [];
    scene.unlimited = new Set([limitKeyOf(APP, PRODUCED)]);
    scene.run(5);
    expect(scene.valueInForce).toBe(OPERATORS);
  });
});

describe('a release', () => {
  test('puts back what was there, removes what was not, and leaves what somebody else has written', () => {
    const record = (clientId: string, original: number | null) => {
      const entity = { user: null, clientId };
      const own = { value: 400, earlier: [500], formerTerms: [], original };
      return { kind: 'limit', term: 1, id: 'a', life: 'x', entity, name: PRODUCED, ...own } as const;
    };
    const originals = { set: 7, new: null, late: null, foreign: 7, gone: 7 };
    const records = Object.entries(originals).map(([clientId, original]) => record(clientId, original));
    const found = { set: 400, new: 400, late: 500, foreign: 999 };
    const described = Object.entries(found).map(([clientId, value]) => {
      return { entity: { user: null, clientId }, name: PRODUCED, value };
    });
    const done = releasePlan(records, described).map(({ record: { entity }, alteration }) => {
      return [entity.clientId, alteration === null ? 'stays' : alteration.value];
    });
    expect(done).toEqual([
      ['set', 7],
      ['new', null],
      ['late', null],
      ['foreign', 'stays'],
      ['gone', 'stays'],
    ]);
  });
});
