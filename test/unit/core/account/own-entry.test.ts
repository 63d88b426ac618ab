import { expect, test } from 'vitest';
import { type EntryLife, OwnEntry } from '../../../../src/core/account/own-entry.js';

test.each<[life: EntryLife, isOpen: boolean, forgotten: EntryLife]>([
  ['none', false, 'none'],
  ['awaited', false, 'awaited'],
  ['due', true, 'written'],
  ['written', true, 'written'],
  ['ending', false, 'none'],
])('an entry that is %s: open %s; the log lacks it: %s', (life, isOpen, forgotten) => {
  const entry = new OwnEntry();
  entry.life = life;
  expect(entry.isOpen).toBe(isOpen);
  entry.forget();
  expect(entry.life).toBe(forgotten);
});
