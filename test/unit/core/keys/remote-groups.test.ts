import { expect, test } from 'vitest';
import { RemoteGroups } from '../../../../src/core/account/keys/remote-groups.js';
import { bitsOf } from '../../../../src/core/base/ids.js';

/** Four characters are 24 bits; 65,536 in the first thirty are one cell further round. */
const GROUP = 'AAAAAHAAAAAAAAAA';
const NEIGHBOUR = `AAQAA${GROUP.slice(5)}`;

test('a group is reported as long as one of its lanes has rows, and another of its cell is not', () => {
  const remoteGroups = new RemoteGroups();
  const [group, neighbour] = [bitsOf(GROUP), bitsOf(NEIGHBOUR)];
  expect(neighbour).not.toBe(group);
  expect((neighbour - group) % 65_536).toBe(0);
  expect(remoteGroups.has(group)).toBe(false);
  remoteGroups.note(GROUP, 0, true);
  remoteGroups.note(GROUP, 0, true);
  remoteGroups.note(GROUP, 1, true);
  expect([remoteGroups.has(group), remoteGroups.has(neighbour)]).toEqual([true, false]);
  remoteGroups.note(GROUP, 0, false);
  expect(remoteGroups.has(group)).toBe(true);
  remoteGroups.note(GROUP, 1, false);
  expect(remoteGroups.has(group)).toBe(false);
});
