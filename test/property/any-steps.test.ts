import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import type { CoordinatorSettings, RampSettings } from '../../src/core/base/settings.js';
import { DIMENSION_COUNT, DIRECTION_COUNT } from '../../src/core/base/vocabulary.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';
import { GROUP, RAMP, SETTINGS } from '../simulation/settings.js';
import { actions, historyOf, readOrder } from './history.js';
import { runs } from './seed.js';

const SHORT_RAMP: RampSettings = { ...RAMP, fromPerSecond: 10, toPerSecond: null, overMs: 5000, timeToLiveMs: 3000 };
const QUOTA = { publish: [1000, 1e6], dispatch: [500, Infinity] } as const;
const GROUPS: CoordinatorSettings['groups'] = [
  { ...GROUP, name: 'plain', quota: QUOTA },
  { ...GROUP, name: 'divided', quota: QUOTA, strategy: 'equal' },
  { ...GROUP, name: 'slow', quota: QUOTA, smoothingMs: 900, slewPerSecond: 0.2 },
  { ...GROUP, name: 'ramped', quota: QUOTA, ramp: SHORT_RAMP },
];

/** Members are silent, forgotten and refused for the want of room within the few seconds of a history. */
function settingsWith(partitions: number): CoordinatorSettings {
  const limiting = { ...SETTINGS.limiting, healthValidMs: 3000, maxBackends: 2 };
  const timing = { stalenessMs: 2000, forgetAfterMs: 4000, isolationAfterMs: 1000 };
  return { ...SETTINGS, ...timing, limiting, maxNodes: 4, nodeId: 'reader', nonce: 1, partitions, groups: GROUPS };
}

/** Everything that a coordinator has from the log. Times of its own clock and small numbers of its own are left out. */
function known(coordinator: Coordinator) {
  const { settings, membership, usageMap, log, shares, targets } = coordinator;
  const members = [...membership.all()].map(({ slot: _slot, lastSignMs: _lastSignMs, ...member }) => ({
    ...member,
    keys: usageMap.keysOf(membership.get(member.nodeKey)!).map((key) => ({ ...key })),
  }));
  const ofGroup = ({ name }: { readonly name: string }, group: number, direction: number) => {
    const lane = coordinator.laneOf(coordinator.groupIdOf(group), direction);
    const { count, target, ...columns } = shares.converge(group, lane);
    const first = (column: ArrayLike<number> = []) => Array.from(column).slice(0, count);
    const rates = Array.from({ length: DIMENSION_COUNT }, (_, at) => [
      first(columns.usage[at]),
      first(columns.demand[at]),
      first(columns.share[at]),
    ]);
    return { name, direction, target: Array.from(target), rates };
  };
  const lanes = settings.groups.flatMap((group, at) => [0, 1].map((direction) => ofGroup(group, at, direction)));
  const backends = [...targets.backends.all()];
  const times = log.logTimes.map(({ ms, spanMs }, partition) => [ms, spanMs, log.nextOffset(partition)]);
  const alive = log.logTimes.map((_, partition) => membership.on(partition).members.map(({ nodeKey }) => nodeKey));
  return { members, alive, lanes, backends, times, ignored: { ...log.ignored } };
}

/** Reads the log in steps of these lengths, one after the other and then again, with some time and a round between them. */
function readIn(settings: CoordinatorSettings, order: readonly ReadEvent[], steps: readonly Step[]): Coordinator {
  const coordinator = new Coordinator(settings, new Limiter(settings.groups.length * DIRECTION_COUNT));
  let nowMs = 1000;
  coordinator.step({ kind: 'caught-up' }, nowMs);
  for (let at = 0, turn = 0; at < order.length; turn++) {
    const { records, afterMs } = steps[turn % steps.length];
    nowMs += afterMs;
    coordinator.step({ kind: 'round-elapsed' }, nowMs);
    coordinator.step({ kind: 'records-read', records: order.slice(at, at + records) }, nowMs);
    at += records;
  }
  return coordinator;
}

interface Step {
  readonly records: number;
  readonly afterMs: number;
}

const step = fc.record<Step>({ records: fc.integer({ min: 1, max: 30 }), afterMs: fc.nat(3000) });

const scenario = fc
  .integer({ min: 1, max: 3 })
  .map(settingsWith)
  .chain((settings) =>
    fc.tuple(
      fc.constant(settings),
      actions(settings),
      fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }),
      fc.array(step, { minLength: 1, maxLength: 6 }),
    ),
  );

test('one log gives one membership, the same lives, rows and shares, in whatever steps and at whatever pace it is read', () => {
  let ignored = 0;
  fc.assert(
    fc.property(scenario, ([settings, list, picks, steps]) => {
      const order = readOrder(historyOf(list, settings), picks);
      const oneByOne = known(readIn(settings, order, [{ records: 1, afterMs: 0 }]));
      expect(known(readIn(settings, order, steps))).toEqual(oneByOne);
      expect(known(readIn(settings, order, [{ records: Math.max(1, order.length), afterMs: 0 }]))).toEqual(oneByOne);
      ignored += oneByOne.ignored['old-incarnation'] + oneByOne.ignored['too-many-nodes'];
    }),
    runs(400),
  );
  expect(ignored, 'histories with records that are refused').toBeGreaterThan(runs(75).numRuns);
});
