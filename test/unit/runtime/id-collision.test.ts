import { expect, test } from 'vitest';
import type { GroupConfig } from '../../../src/config/resolved/resolved-config.js';
import { GroupTable } from '../../../src/node/groups/group-table.js';

/** Names that begin alike have one id here; of real ids nobody can make two alike. */
const idOf = (name: string) => name.slice(0, 3);
const group = (name: string) => ({ name, mode: 'enforce', shadow: null }) as unknown as GroupConfig;
const refused = {
  code: 'ID_COLLISION',
  httpStatus: 409,
  message: expect.stringMatching(/orders.*ordinary|ordinary.*orders/),
};

test('two groups of a configuration with one id are refused by name', () => {
  expect(() => new GroupTable([group('orders'), group('mails'), group('ordinary')], idOf)).toThrow(
    expect.objectContaining(refused),
  );
});

test('and so are groups and keys that come later, and nothing of them is kept', () => {
  const table = new GroupTable([group('orders'), group('mails')], idOf);
  for (const define of [() => table.define(group('ordinary')), () => table.defineKey(group('ordinary'))]) {
    expect(define).toThrow(expect.objectContaining(refused));
  }
  const number = table.defineKey(group('key:a'));
  expect(() => table.renameKey(number, group('ordinary'))).toThrow(expect.objectContaining(refused));
  expect([table.collisionOf('ordinary'), table.has('ordinary'), table.at(number).name]).toEqual([
    'orders',
    false,
    'key:a',
  ]);
  // The group that has the id may be changed, and a key whose number is given away frees its id.
  table.define(group('orders'));
  table.renameKey(number, group('key:b'));
  expect([table.collisionOf('key:c'), table.size]).toEqual(['key:b', 3]);
});

test('a key may have the name of a group that was deleted, under the number of another key', () => {
  const table = new GroupTable([group('orders')], (name) => name);
  table.define(group('key:a'));
  table.remove('key:a');
  const number = table.defineKey(group('key:b'));
  table.renameKey(number, group('key:a'));
  expect([table.at(number).name, table.has('key:b')]).toEqual(['key:a', false]);
});
