import { expect, test } from 'vitest';
import { RandomWorld, type Seen } from './random-world.js';

const WORLDS = 4;
const HAPPENINGS = 20;

test('who has read the same of the log knows the same tokens, bit for bit', () => {
  let compared = 0;
  let moved = 0;
  const unlike: string[] = [];
  for (let seed = 1; seed <= WORLDS; seed++) {
    const random = new RandomWorld(seed);
    const [{ tokens: full }] = [...random.seen().values()] as [Seen];
    random.trouble();
    for (let at = 0; at < HAPPENINGS && unlike.length < 5; at++) {
      random.go();
      const byOffset = new Map<number, readonly number[]>();
      for (const { offset, tokens } of random.seen().values()) {
        const other = byOffset.get(offset);
        byOffset.set(offset, tokens);
        if (other === undefined || other.length !== tokens.length) continue;
        compared++;
        if (tokens.some((each, slot) => each !== other[slot]))
          unlike.push(`seed ${seed}, ${at}: ${tokens} and ${other}`);
        if (tokens.some((each, slot) => each !== full[slot])) moved++;
      }
    }
  }
  console.log(`${compared} pairs compared, ${moved} of them while some bucket was not full`);
  expect(unlike).toEqual([]);
  expect(moved).toBeGreaterThan(100);
});
