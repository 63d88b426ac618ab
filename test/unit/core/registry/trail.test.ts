import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AuditRecord, auditIdOf } from '../../../../src/core/beside/registry/registry-record.js';
import { Trail } from '../../../../src/core/beside/registry/trail.js';

const MOST = 5;

function change(revision: number, group = 'orders', withGroup?: string): AuditRecord {
  const facts = { kind: 'audit', author: 'a', group, revision, before: null, after: null, by: null } as const;
  return withGroup === undefined ? facts : { ...facts, withGroup };
}

/** A deletion of `orders` at this revision that detached what is named. */
function detaching(revision: number, ...names: readonly string[]): AuditRecord[] {
  return [...names.map((name) => change(revision, `/attachment/tenant/${name}`, 'orders')), change(revision)];
}

function trailOf(records: readonly AuditRecord[], most = MOST): Trail {
  const trail = new Trail(most);
  for (const record of records) trail.keep(record, 0);
  return trail;
}

const idsOf = (records: readonly AuditRecord[]) => records.map(auditIdOf);
const allOf = (trail: Trail) => idsOf(trail.after(0, 1000, null));

/** Twelve changes, some of them with what was detached, in any order and some of them more than once. */
const ARRIVALS = fc
  .shuffledSubarray(
    [...Array(12).keys()].flatMap((at) => (at % 4 === 3 ? detaching(at + 1, 'acme', 'beta') : [change(at + 1)])),
    { minLength: 1 },
  )
  .chain((records) =>
    fc.subarray(records).map((repeated) => ({ records, arrivals: [...records, ...repeated] as AuditRecord[] })),
  );

describe('what is kept of the changes', () => {
  test('the newest, in the order of the log, however they arrive', () => {
    fc.assert(
      fc.property(ARRIVALS, ({ records, arrivals }) => {
        const trail = trailOf(arrivals);
        const inOrder = [...records].sort(byRevision);
        expect(allOf(trail)).toEqual(idsOf(inOrder).slice(-MOST));
        expect(trail.size).toBe(Math.min(MOST, records.length));
      }),
    );
  });

  test('is told page by page, from any revision on, of all entries or of one, at most as many as asked for', () => {
    fc.assert(
      fc.property(ARRIVALS, fc.integer({ min: 1, max: 4 }), ({ records, arrivals }, most) => {
        const trail = trailOf(arrivals, 100);
        const inOrder = [...records].sort(byRevision);
        for (const name of [null, 'orders', '/attachment/tenant/acme']) {
          const paged: AuditRecord[] = [];
          let last = { revision: 0, group: '' };
          for (let page = trail.after(0, most, name); page.length > 0; ) {
            expect(page.length).toBeLessThanOrEqual(most);
            paged.push(...page);
            last = page.at(-1) as AuditRecord;
            page = trail.after(last.revision, most, name, last.group);
          }
          expect(paged).toEqual(inOrder.filter(({ group }) => name === null || group === name));
        }
        for (const { revision } of inOrder) {
          expect(trail.after(revision, 100, null)).toEqual(inOrder.filter((record) => record.revision > revision));
        }
      }),
    );
  });

  test('of a change that detached others nothing is told while one record of it is missing', () => {
    const [acme, beta, orders] = detaching(7, 'acme', 'beta') as [AuditRecord, AuditRecord, AuditRecord];
    const trail = trailOf([change(3)]);
    for (const record of [acme, beta, orders]) trail.expect(record, 0);
    expect(idsOf(trail.missingOf(new Set(['orders'])))).toEqual(['7']);
    trail.keep(orders, 0);
    trail.keep(acme, 0);
    expect(allOf(trail)).toEqual(['3']);
    expect(idsOf(trail.missingOf(new Set([acme.group, beta.group, 'orders'])))).toEqual([auditIdOf(beta)]);
    trail.keep(beta, 0);
    expect(allOf(trail)).toEqual(['3', ...idsOf([acme, beta, orders])]);
    // What is in the log already is not missing, though its proposal is read once more.
    for (const record of [acme, beta, orders]) trail.expect(record, 0);
    expect(trail.missingOf(new Set([acme.group, beta.group, 'orders']))).toEqual([]);
  });
});

describe('what has fallen out', () => {
  test('is handed out once to be freed, all of it and nothing else, however it fell', () => {
    fc.assert(
      fc.property(ARRIVALS, fc.integer({ min: 1, max: 3 }), ({ records, arrivals }, count) => {
        const trail = new Trail(MOST);
        const taken: string[] = [];
        const freed = new Set<string>();
        for (const record of arrivals) {
          // A writer repeats no record whose tombstone it has read.
          if (freed.has(auditIdOf(record))) continue;
          trail.keep(record, 0);
          const now = trail.takeFallen(count, 0);
          expect(now.length).toBeLessThanOrEqual(count);
          for (const id of now) {
            taken.push(id);
            freed.add(id);
            trail.freed(id);
          }
        }
        taken.push(...trail.takeFallen(1000, 0));
        const gone = idsOf([...records].sort(byRevision)).slice(0, -MOST);
        expect([...taken].sort()).toEqual([...gone].sort());
        expect(trail.takeFallen(1000, 0)).toEqual([]);
      }),
    );
  });
});

function byRevision(one: AuditRecord, other: AuditRecord): number {
  return one.revision - other.revision || (one.group < other.group ? -1 : 1);
}
