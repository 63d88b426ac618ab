import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CostRows } from '../../../../src/core/usage-map/cost-rows.js';
import { runs } from '../../../property/seed.js';
import { wideId } from '../../../wide-ids.js';

const LANES = [0, 1, 2];
const BACKENDS = [10, 11, 12].map(wideId);

const step = fc.record({
  row: fc.nat(5),
  what: fc.constantFrom('set', 'set', 'release', 'recount'),
  on: fc.uniqueArray(fc.constantFrom(...BACKENDS), { maxLength: 3 }),
});

test('knows which lanes work on which backend, as a list of all rows would, and tells of every change', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const costs = new CostRows();
      const told = new Set<string>();
      costs.onChanged = (backend) => told.add(backend);
      const rows = new Map<number, readonly string[]>();
      const laneOf = (row: number) => row % LANES.length;
      const identityOf = (lane: number) => ({ groupId: wideId(100 + lane), direction: 0 });
      for (const { row, what, on } of steps) {
        const before = rows.get(row);
        const version = costs.version;
        told.clear();
        // A row has costs once; they are released before others are set.
        if (what === 'recount') costs.recounted(row);
        else costs.release(row, laneOf(row));
        if (what !== 'recount') rows.delete(row);
        if (what === 'set') {
          const backends = on.map((backend) => ({ backend, cost: 1 }));
          costs.set(row, identityOf(laneOf(row)), laneOf(row), { transactions: 1, backends });
          rows.set(row, on);
        }
        const touched = [...(before ?? []), ...(what === 'set' ? on : [])];
        expect(told).toEqual(new Set(touched));
        expect(costs.version > version).toBe(before !== undefined || what === 'set');

        for (const lane of LANES) {
          const own = [...rows.keys()].filter((each) => laneOf(each) === lane);
          expect(costs.hasLane(lane)).toBe(own.length > 0);
        }
        for (const backend of BACKENDS) {
          const expected = LANES.map((lane) => {
            const count = [...rows].filter(([each, its]) => laneOf(each) === lane && its.includes(backend)).length;
            return { ...identityOf(lane), mapLane: lane, rows: count };
          }).filter((lane) => lane.rows > 0);
          const found = [...costs.lanesOn(backend)].sort((one, other) => one.mapLane - other.mapLane);
          expect(found).toEqual(expected);
        }
        expect(costs.of(row)?.backends.map(({ backend }) => backend)).toEqual(rows.get(row));
      }
    }),
    runs(200),
  );
});
