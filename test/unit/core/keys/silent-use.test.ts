import { describe, expect, test } from 'vitest';
import { SilentUse } from '../../../../src/core/account/keys/silent-use.js';

const PUBLISH = 0;
/** Messages per second, as of a quota of 1/s. */
const heatOf = (_: string, [messages]: Float64Array) => messages;

describe('what this node grants of silent keys', () => {
  test('is counted over 2.5 to 5 s, by name and direction, the hottest first', () => {
    const use = new SilentUse(0);
    const spend = (ms: number) => {
      for (let at = 0; at < ms; at += 100) {
        use.note('key:a', PUBLISH, 1, 0);
        use.note('key:b', PUBLISH, 2, 500);
        if (at % 1000 === 0) use.note('key:a', 1, 1, 0);
      }
    };
    spend(2000);
    use.turn(2000, heatOf);
    expect(use.busiest).toEqual([]);
    spend(3000);
    use.turn(5000, heatOf);
    spend(5000);
    use.turn(10_000, heatOf);
    expect(use.busiest).toEqual([
      { name: 'key:b', direction: 0, messages: 20, bytes: 5000, heat: 20 },
      { name: 'key:a', direction: 0, messages: 10, bytes: 0, heat: 10 },
      { name: 'key:a', direction: 1, messages: 1, bytes: 0, heat: 10 },
    ]);
    use.turn(12_500, heatOf);
    use.turn(15_000, heatOf);
    expect(use.busiest).toEqual([]);
  });

  test('what is not silent any more is left out', () => {
    const use = new SilentUse(0);
    use.note('key:a', PUBLISH, 1, 0);
    use.turn(2500, () => 0);
    expect(use.busiest).toEqual([]);
  });

  test('of many grants some are counted, whoever takes turns, and the busiest are found among any number', () => {
    const use = new SilentUse(0);
    // 20,000/s: forty customers in turn have a half, names that never come again the rest.
    for (let turn = 1; turn <= 8; turn++) {
      for (let at = 0; at < 50_000; at++) {
        use.note(at % 2 === 0 ? `key:${(at / 2) % 40}` : `key:${turn}-${at}`, PUBLISH, 1, 0);
      }
      use.turn(2500 * turn, heatOf);
    }
    expect(use.busiest).toHaveLength(240);
    const busiest = use.busiest.slice(0, 40);
    expect(busiest.map(({ name }) => name).toSorted()).toEqual(
      Array.from({ length: 40 }, (_, at) => `key:${at}`).sort(),
    );
    for (const { messages, name } of busiest) {
      expect(messages, name).toBeGreaterThan(250 * 0.6);
      expect(messages, name).toBeLessThan(250 * 1.4);
    }
    const sum = busiest.reduce((all, { messages }) => all + messages, 0);
    expect(sum).toBeGreaterThan(10_000 * 0.95);
    expect(sum).toBeLessThan(10_000 * 1.05);
  });
});
