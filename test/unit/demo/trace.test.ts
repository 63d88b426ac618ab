import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseTrace, readTrace } from '../../../src/tools/demo/traffic/trace.js';

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const TRACE_FILE = fileURLToPath(new URL('../../../examples/traces/azure-llm-code-2023.csv', import.meta.url));

describe('readTrace', () => {
  test('reads the trace that comes with the project', async () => {
    const rows = await readTrace(TRACE_FILE);
    expect(rows).toHaveLength(8819);
    expect(rows[0]).toEqual({ atMs: 0, bytes: 4818 });
    expect(rows[1]?.atMs).toBeCloseTo(52, 3);
    expect(rows[8818]?.atMs).toBeGreaterThan(56 * 60_000);
  });

  test('keeps the digits below a millisecond', () => {
    const text = `${HEADER}\n2023-11-16 18:17:03.9799600,1,2\n2023-11-16 18:17:03.9800600,3,4\n`;
    const [, second] = parseTrace(text, 'x.csv');
    expect(second?.atMs).toBeCloseTo(0.1, 3);
    expect(second?.bytes).toBe(7);
  });

  test.each([
    ['no header', '2023-11-16 18:17:03.9799600,1,2', 'x.csv: line 1: expected the header'],
    ['no number', `${HEADER}\n2023-11-16 18:17:03.9799600,many,2`, 'x.csv: line 2: cannot read'],
    ['no time', `${HEADER}\nyesterday,1,2`, 'x.csv: line 2: cannot read yesterday,1,2'],
    ['one request', `${HEADER}\n2023-11-16 18:17:03.9799600,1,2`, 'at least two requests'],
    [
      'time going back',
      `${HEADER}\n2023-11-16 18:17:03.9799600,1,2\n2023-11-16 18:17:02.9799600,1,2`,
      'line 3: rows must be in order of time',
    ],
  ])('says what is wrong: %s', (_, text, message) => {
    expect(() => parseTrace(text, 'x.csv')).toThrow(message);
  });
});
