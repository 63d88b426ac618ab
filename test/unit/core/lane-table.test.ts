import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LaneState } from '../../../src/core/account/lanes/lane-state.js';
import { LaneTable } from '../../../src/core/account/lanes/lane-table.js';
import { UsageMap } from '../../../src/core/usage-map/usage-map.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import '../../property/seed.js';

test('a served lane keeps its seat, no other has it meanwhile, and seats that are free are used first', () => {
  const step = fc.record({ what: fc.constantFrom('serve', 'end', 'change', 'look'), lane: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const groups = ['a', 'b', 'c'].map((name) => ({ ...GROUP, name }));
      const table = new LaneTable({ ...SETTINGS, nodeId: 'own', nonce: 1, groups });
      const usageMap = new UsageMap(() => undefined, SETTINGS);
      const served: number[] = [];
      let most = 0;
      for (const { what, lane } of steps) {
        const before = table.seats.slice();
        const known = table.lanes.get(lane);
        const group = Math.floor(lane / 2);
        if (what === 'serve' && known === undefined) {
          served.push(lane);
          expect(table.serve(lane, usageMap, 0).group).toBe(group);
        } else if (what === 'end' && known !== undefined) {
          served.splice(served.indexOf(lane), 1);
          const isOtherServed = served.includes(lane % 2 === 0 ? lane + 1 : lane - 1);
          expect(table.end(known)).toBe(!isOtherServed);
        } else if (what === 'change') {
          table.changeGroup(group, { ...groups[group], windowMs: lane });
          expect(table.lanesOf(group).map(({ settings }) => settings.windowMs)).toEqual(
            served.filter((each) => Math.floor(each / 2) === group).map(() => lane),
          );
        } else {
          expect(table.seats).toEqual(before);
          continue;
        }
        before.forEach((state, seat) => {
          if (state !== null && served.includes(state.lane)) expect(table.seats[seat]).toBe(state);
        });
        const seated = table.seats.filter((each) => each !== null);
        expect(seated.map((each) => each.lane).sort()).toEqual([...served].sort());
        for (const each of seated) expect(table.seats[each.seat]).toBe(each);
        most = Math.max(most, served.length);
        expect(table.seats.length).toBe(most);
        for (const each of [0, 1, 2, 3, 4, 5]) {
          const mapLane = usageMap.mapLaneOf(table.groupIdOf(Math.floor(each / 2)), each % 2);
          expect(table.servesMapLane(mapLane)).toBe(served.includes(each));
        }
      }
    }),
  );
});

test('a lane whose share moves with log time is looked at whenever that goes on, until it stands still or ends', () => {
  const groups = ['a', 'b'].map((name) => ({ ...GROUP, name }));
  const table = new LaneTable({ ...SETTINGS, nodeId: 'own', nonce: 1, groups });
  const usageMap = new UsageMap(() => undefined, SETTINGS);
  const [moving, other] = [0, 2].map((lane) => table.serve(lane, usageMap, 0)) as [LaneState, LaneState];
  const looksAt = () => {
    table.endUpdate();
    table.markMoving();
    return [...table.dirty].map(({ lane }) => lane);
  };
  const change = (lane: LaneState, is: Partial<Pick<LaneState, 'isMoving' | 'isOwnMoving'>>) => {
    Object.assign(lane, is);
    table.dirty.add(lane);
  };
  expect([looksAt(), table.needsLogTime(0)]).toEqual([[], false]);
  for (const isOwnMoving of [false, true]) {
    change(moving, { isMoving: true, isOwnMoving });
    expect([looksAt(), looksAt(), table.needsLogTime(0)]).toEqual([[0], [0], isOwnMoving]);
  }
  change(moving, { isMoving: false });
  expect([looksAt(), table.needsLogTime(0)]).toEqual([[], false]);
  for (const lane of [moving, other]) change(lane, { isMoving: true });
  expect(looksAt()).toEqual([0, 2]);
  table.end(other);
  expect(looksAt()).toEqual([0]);
});
