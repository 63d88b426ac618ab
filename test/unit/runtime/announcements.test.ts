import { expect, test } from 'vitest';
import type { Notice } from '../../../src/core/base/protocol/events-and-effects.js';
import { Announcements } from '../../../src/node/loop/announce.js';

test('of members that come and go at once the first are named in the log, and the others counted', () => {
  const lines: [string, Readonly<Record<string, unknown>>][] = [];
  const announcements = new Announcements({ log: (_level, message, facts = {}) => void lines.push([message, facts]) });
  const joins = Array.from(
    { length: 1000 },
    (_, at): Notice => ({ kind: 'member-joined', nodeId: `n${at}`, members: at }),
  );
  announcements.tell(joins, 5000);
  announcements.tell([{ kind: 'epoch-settled', afterMs: 0, missing: 0 }], 5500);
  expect(lines).toHaveLength(51);
  expect(lines[0]).toEqual(['node joined the cluster', { nodeId: 'n0', members: 0 }]);
  announcements.tell(joins.slice(0, 1), 6000);
  expect(lines.slice(51)).toEqual([
    ['more nodes came or went within a second than are named', { unnamed: 950 }],
    ['node joined the cluster', { nodeId: 'n0', members: 0 }],
  ]);
});
