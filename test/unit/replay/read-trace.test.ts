import { createReadStream } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LATE_MS_MAX } from '../../../sim/replay/in-order.js';
import { readTrace } from '../../../sim/replay/read-trace.js';
import { elapsedMs, parseTime } from '../../../sim/replay/trace-time.js';
import { OPTIONS, rowsOf } from './rows.js';

const AZURE = new URL('../../../examples/traces/azure-llm-code-2023.csv', import.meta.url);

describe('times', () => {
  test.for([
    ['2023-11-16 18:17:03.9799600', 'auto', 1_700_158_623_979.96],
    ['2023-11-16T18:17:03Z', 'auto', 1_700_158_623_000],
    ['2023-11-16T20:17:03,5+02:00', 'iso', 1_700_158_623_500],
    ['1700158623.25', 'auto', 1_700_158_623_250],
    ['1700158623250', 'auto', 1_700_158_623_250],
    ['1700158623250.5', 'ms', 1_700_158_623_250.5],
    ['0', 's', 0],
    ['12.5', 's', 12_500],
    ['12.5', 'ms', 12.5],
  ] as const)('%s as %s', ([text, format, ms]) => {
    const time = parseTime(text, format)!;
    expect(time.ms + time.belowMs).toBeCloseTo(ms, 3);
  });

  test.for([
    ['', 'auto'],
    ['soon', 'auto'],
    ['2023-02-30 00:00:00', 'auto'],
    ['2023-11-16', 'auto'],
    ['2023-11-16 25:00:00', 'auto'],
    ['-1', 'auto'],
    ['1e9', 's'],
    ['2023-11-16 18:17:03', 's'],
    ['1700158623', 'iso'],
    ['Infinity', 'auto'],
  ] as const)('%j is no time as %s', ([text, format]) => {
    expect(parseTime(text, format)).toBeNull();
  });

  test('100 ns are told apart, far from 1970', () => {
    const [one, other] = ['2023-11-16 18:17:03.9799600', '2023-11-16 18:17:03.9799601'].map(
      (text) => parseTime(text, 'iso')!,
    );
    expect(elapsedMs(one!, other!)).toBeCloseTo(0.0001, 9);
  });
});

describe('rows', () => {
  test('columns are named by flags, sums with +, the speed divides', async () => {
    const text = 'when,in,out,n\n10,3,4,2\n\n12.5,1,1,5\n';
    const rows = await rowsOf(text, {
      time: 'when',
      bytes: 'in+out',
      messages: 'n',
      speed: 10,
      by: 'round-robin',
      nodes: 2,
    });
    expect(rows).toEqual([
      { atMs: 0, node: 0, messages: 2, bytes: 7, key: '', retryAfterMs: 0, line: 2 },
      { atMs: 250, node: 1, messages: 5, bytes: 2, key: '', retryAfterMs: 0, line: 4 },
    ]);
  });

  test('a byte order mark, quotes, CRLF, another delimiter and no end of line', async () => {
    const rows = await rowsOf('\ufeff"time";"a ""b"""\r\n1;"2"\r\n3;4', { bytes: 'a "b"', delimiter: ';' });
    expect(rows.map(({ atMs, bytes, line }) => [atMs, bytes, line])).toEqual([
      [0, 2, 2],
      [2000, 4, 3],
    ]);
  });

  test('--by a column: its texts fill the nodes one by one, further ones meet those that have some', async () => {
    const text = `time,pod\n${Array.from({ length: 60 }, (_, at) => `${at},pod-${at % 3}`).join('\n')}\n`;
    const pods = await rowsOf(text, { by: 'pod', nodes: 3, timeFormat: 'ms' });
    expect(pods.map(({ node }) => node)).toEqual(Array.from({ length: 60 }, (_, at) => at % 3));
    const fewer = await rowsOf(text, { by: 'pod', nodes: 2, timeFormat: 'ms' });
    expect(new Set(fewer.map(({ node }, at) => `${at % 3} ${node}`)).size).toBe(3);
    const more = await rowsOf(text, { by: 'pod', nodes: 5, timeFormat: 'ms' });
    expect(new Set(more.map(({ node }) => node))).toEqual(new Set([0, 1, 2]));
  });

  test('--per a column: its text is the key; more than 5,000 are a mistake', async () => {
    const some = await rowsOf('time,key\n0,b\n1,a\n2,b\n', { per: 'key', timeFormat: 'ms' });
    expect(some.map(({ key }) => key)).toEqual(['b', 'a', 'b']);
    const keys = (count: number) =>
      `time,key\n${Array.from({ length: count }, (_, at) => `${at},k${at}`).join('\n')}\n`;
    expect(await rowsOf(keys(5000), { per: 'key', timeFormat: 'ms' })).toHaveLength(5000);
    await expect(rowsOf(keys(5001), { per: 'key', timeFormat: 'ms' })).rejects.toThrow(
      'calls.csv:5002: key is the 5001th different text; allowed: at most 5000 for --per',
    );
  });

  test('--by a column: equal texts meet the same node; hash: about evenly', async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `${at},t${at % 7}`);
    const text = `time,tenant\n${lines.join('\n')}\n`;
    const byTenant = await rowsOf(text, { by: 'tenant', timeFormat: 'ms' });
    expect(byTenant.filter(({ node }, at) => node !== byTenant[at % 7]?.node)).toEqual([]);
    const counts = [0, 0, 0];
    for (const { node } of await rowsOf(text, { timeFormat: 'ms' })) counts[node] = counts[node]! + 1;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(100);
  });

  test("the example's file, as it is", async () => {
    const options = { ...OPTIONS, time: 'TIMESTAMP', bytes: 'ContextTokens+GeneratedTokens', speed: 170 };
    let [count, bytes, lastMs] = [0, 0, 0];
    for await (const row of readTrace(createReadStream(AZURE), 'azure', options)) {
      count++;
      bytes += row.bytes;
      if (row.atMs < lastMs) throw new Error(`line ${row.line} is out of order`);
      lastMs = row.atMs;
    }
    expect({ count, bytes }).toEqual({ count: 8819, bytes: 18_305_870 });
    // 57 minutes at 170 times the speed.
    expect(lastMs / 1000).toBeCloseTo(20.2, 0);
  });
});

describe('mistakes name file, line, field and what is allowed', () => {
  test.for([
    ['', {}, 'calls.csv: the file is empty; allowed: a header'],
    ['time\n', {}, 'calls.csv: the file has a header only; allowed: at least one row'],
    ['when\n1\n', {}, 'calls.csv:1: --time names the column "time", which the header does not have; allowed: "when"'],
    ['time,time\n1,2\n', {}, '--time names the column "time", which the header has more than once; allowed: a name'],
    ['times\n1\n', {}, 'which the header does not have. Did you mean "times"?; allowed: "times"'],
    ['time,a\n1,2\n', { bytes: 'a+b' }, 'calls.csv:1: --bytes names the column "b"'],
    ['time\n1\n', { by: 'tenant' }, 'calls.csv:1: --by names the column "tenant"'],
    ['time\n1\nsoon\n', {}, 'calls.csv:3: time is "soon"; allowed: a time like'],
    ['time,a\n1,2\n2,-5\n', { bytes: 'a' }, 'calls.csv:3: a is "-5"; allowed: a number from 0 to 1e15'],
    ['time,a\n1,\n', { bytes: 'a' }, 'calls.csv:2: a is ""; allowed: a number'],
    ['time,a\n1,0x10\n', { bytes: 'a' }, 'calls.csv:2: a is "0x10"; allowed'],
    ['time,a\n1,2\n2\n', {}, 'calls.csv:3: the row has 1 fields; allowed: 2, as in the header'],
    ['time,a\n1,2\n2,"x\n3,4\n', {}, 'the row is no CSV (quote not closed); allowed: RFC 4180'],
    ['time\n10\n20\n15\n', {}, 'calls.csv:4: time is 5 s before a row above; allowed: at most 1 s'],
    ['time\n0\n100000\n', {}, 'calls.csv:3: time is 27.8 h after the first at --speed 1; allowed: at most 24 h'],
    ['time\n1\n\u001b[31m\n', {}, 'calls.csv:3: time is "\\u001b[31m"; allowed'],
  ] as const)('%j %j', async ([text, options, message]) => {
    await expect(rowsOf(text, options)).rejects.toMatchObject({
      code: 'TRACE_INVALID',
      message: expect.stringContaining(message),
    });
  });
});

describe('order', () => {
  test('rows up to a second late are put where they belong, whatever their order', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 60 });
    const lateness = fc.array(fc.integer({ min: 0, max: LATE_MS_MAX - 1 }), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(times, lateness, async (due, late) => {
        // Written when the work ended: in order of begin + lateness.
        const written = due.map((ms, at) => ({ ms, at: ms + late[at]! })).sort((one, other) => one.at - other.at);
        const rows = await rowsOf(`time\n${written.map(({ ms }) => ms).join('\n')}\n`, { timeFormat: 'ms' });
        const first = written[0]!.ms;
        const expected = due.map((ms) => Math.max(0, ms - first)).sort((one, other) => one - other);
        expect(rows.map(({ atMs }) => atMs)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('the window is of the recorded time, not of the played one', async () => {
    expect((await rowsOf('time\n0\n5\n4.5\n', { speed: 100 })).map(({ atMs }) => atMs)).toEqual([0, 45, 50]);
    await expect(rowsOf('time\n0\n5\n3.5\n', { speed: 100 })).rejects.toThrow('1.5 s before a row above');
  });
});
