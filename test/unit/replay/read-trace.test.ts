import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LATE_MS_MAX } from '../../../sim/replay/in-order.js';
import { readTrace } from '../../../sim/replay/read-trace.js';
import type { TraceOptions } from '../../../sim/replay/trace.js';
import { elapsedMs, parseTime } from '../../../sim/replay/trace-time.js';
import { runs } from '../../property/seed.js';
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
    ['1763600000123456', 'auto', 1_763_600_000_123.456],
    ['1763600000123456789', 'auto', 1_763_600_000_123.4568],
    ['1.763600000125E+09', 'auto', 1_763_600_000_125],
    ['1.763600000125E12', 'auto', 1_763_600_000_125],
    ['2.5e-3', 's', 2.5],
    ['125', 'us', 0.125],
    ['2500000', 'ns', 2.5],
    ['2023-11-16 19:17:03 +0100', 'auto', 1_700_158_623_000],
    ['2023-11-16T19:17:03.5+01', 'auto', 1_700_158_623_500],
    ['2023-11-16 18:17:03 UTC', 'auto', 1_700_158_623_000],
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
    ['1e999', 's'],
    ['1.5e300', 'ms'],
    ['2023-11-16 18:17:03 +2500', 'auto'],
    ['2023-11-16 18:17:03 CET', 'auto'],
    ['2023-11-16 18:17:03', 's'],
    ['1700158623', 'iso'],
    ['Infinity', 'auto'],
  ] as const)('%j is no time as %s', ([text, format]) => {
    expect(parseTime(text, format)).toBeNull();
  });

  test('nanoseconds since 1970 keep all their digits', () => {
    const [one, other] = ['1763600000123456788', '1763600000123456789'].map((text) => parseTime(text, 'auto')!);
    expect(elapsedMs(one, other)).toBeCloseTo(1e-6, 9);
  });

  test('100 ns are told apart, far from 1970', () => {
    const times = ['2023-11-16 18:17:03.9799600', '2023-11-16 18:17:03.9799601'];
    const [one, other] = times.map((text) => parseTime(text, 'iso')!);
    expect(elapsedMs(one, other)).toBeCloseTo(0.0001, 9);
  });
});

describe('rows', () => {
  test('columns are named by flags, sums with +, the speed divides', async () => {
    const text = 'when,in,out,n\n10,3,4,2\n\n12.5,1,1,5\n';
    const columns = { time: 'when', bytes: 'in+out', messages: 'n' };
    const rows = await rowsOf(text, { ...columns, speed: 10, by: 'round-robin', nodes: 2 });
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
    for (const { node } of await rowsOf(text, { timeFormat: 'ms' })) counts[node] = counts[node] + 1;
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

describe('what people call a CSV', () => {
  /** 30 rows, ten a second. */
  const SECONDS = Array.from({ length: 30 }, (_, at) => 1_763_600_000 + at / 10);
  const EXPECTED = SECONDS.map((_, at) => at * 100);
  const file = (timeOf: (seconds: number) => string, [delimiter, end]: readonly [string, string] = [',', '\n']) =>
    `time${delimiter}a${end}${SECONDS.map((second) => `${timeOf(second)}${delimiter}7${end}`).join('')}`;
  const atMs = async (text: string, options: Partial<TraceOptions> = {}) =>
    (await rowsOf(text, { bytes: 'a', delimiter: undefined, ...options })).map((row) => {
      expect(row.bytes).toBe(7);
      return Math.round(row.atMs * 1e6) / 1e6;
    });
  const whole = (factor: number) => (second: number) => String(BigInt(Math.round(second * 10)) * BigInt(factor / 10));

  const MS = file(whole(1e3));

  test.for<[string, (second: number) => string]>([
    ['s', (second) => second.toFixed(3)],
    ['ms', whole(1e3)],
    ['µs', whole(1e6)],
    ['ns', whole(1e9)],
    ['ms with a fraction', (second) => (second * 1000).toFixed(3)],
    ['scientific, all digits', (second) => (second * 1000).toExponential()],
    ['seconds of no date', (second) => (second - 1_763_600_000).toFixed(1)],
    ['a zone', (second) => `${new Date(second * 1000 + 3_600_000).toISOString().slice(0, -1)}+0100`],
    ['a quoted date', (second) => `"${new Date(second * 1000).toISOString().replace('T', ' ')}"`],
  ])('the same rows in %s', async ([, timeOf]) => {
    expect(await atMs(file(timeOf))).toEqual(EXPECTED);
  });

  test.for<[string, string | Buffer]>([
    ['semicolons', file(whole(1e3), [';', '\n'])],
    ['tabs, CRLF, a byte order mark', `\ufeff${file(whole(1e3), ['\t', '\r\n'])}`],
    ['strokes and lone CR', file(whole(1e3), ['|', '\r'])],
    ['the first line of a spreadsheet', `sep=;\r\n${file(whole(1e3), [';', '\r\n'])}`],
    ['that with a byte order mark', `\ufeffsep=;\n${file(whole(1e3), [';', '\n'])}`],
    ['UTF-16 of a spreadsheet', Buffer.from(`\ufeff${file(whole(1e3), ['\t', '\r\n'])}`, 'utf16le')],
    ['UTF-16 of the other order', Buffer.from(`\ufeff${file(whole(1e3), ['\t', '\r\n'])}`, 'utf16le').swap16()],
    ['two marks', `\ufeff\ufeff${MS}`],
    ['gzip', gzipSync(MS)],
    ['gzip in two members', Buffer.concat([MS.slice(0, 99), MS.slice(99)].map((part) => gzipSync(part)))],
  ])('%s', async ([, text]) => {
    expect(await atMs(text as string)).toEqual(EXPECTED);
  });

  test('a decomposed letter in a name is the composed one', async () => {
    const rows = await rowsOf('ze\u0301it;a\n1;2\n', { time: 'z\u00e9it', bytes: 'a', delimiter: undefined });
    expect(rows).toHaveLength(1);
  });

  test('a semicolon in a column of a file with commas divides nothing', async () => {
    expect(await rowsOf('time,a;b\n1,2\n', { bytes: 'a;b', delimiter: undefined })).toMatchObject([{ bytes: 2 }]);
  });

  test('it says what it took', async () => {
    const found = (text: string, options: Partial<TraceOptions> = {}) =>
      new Promise((resolve, reject) => {
        const input = Readable.from([Buffer.from(text)]);
        const rows = readTrace(input, 'calls.csv', { ...OPTIONS, delimiter: undefined, ...options }, resolve);
        rows[Symbol.asyncIterator]().next().catch(reject);
      });
    const begunMs = 1_763_600_000_000;
    expect(await found('time;a\n1763600000000000;1\n')).toEqual({ begunMs, unit: 'us', isDated: true, delimiter: ';' });
    expect(await found('time\n12\n')).toEqual({ begunMs: 12_000, unit: 's', isDated: false, delimiter: ',' });
    expect(await found('time\n12\n', { timeFormat: 'ms' })).toMatchObject({ begunMs: 12, unit: 'ms' });
  });

  test.for<[string, string | Buffer, string]>([
    [
      'milliseconds of no date',
      'time,a\n0,7\n30000,7\n',
      'is "30000", 8.33 h after the first if that is seconds; allowed: at most 1 h, or --time-format',
    ],
    ['a monotonic clock', 'time,a\n123456789012345,7\n', 'a date from 2000 to 2100 in no unit'],
    ['what a spreadsheet has rounded', file((second) => (second * 1000).toExponential(5)), 'rounded to 10000 s'],
    ['rows in another unit', 'time,a\n1763600000,7\n1763600000100,7\n', '--speed, or --time-format'],
    ['numbers below a date', 'time,a\n2025-11-20 00:53:20,7\n1763600000,7\n', '--time-format'],
    ['a date without a time', 'time,a\n2025-11-20,7\n', '--time-format'],
    ['a comma before a fraction', 'time;a\n1;1,5\n', 'with a point before its fraction (--bytes)'],
    ['1100 or 1.1', 'time;a\n1;1,100\n', '(--bytes)'],
    ['a ZIP archive', Buffer.from('PK\x03\x04..................'), 'is a ZIP archive or a spreadsheet'],
    ['half of a gzip', gzipSync(MS).subarray(0, 60), 'cannot be unpacked (unexpected end of file)'],
    ['ticks of .NET', 'time,a\n638992000000000000,7\n', 'a date from 2000 to 2100 in no unit'],
    ['days of a spreadsheet', 'time,a\n46346,7\n46346.0000116,7\n', 'may be days of a spreadsheet; allowed: times as'],
    ['nothing but a mark', '\ufeff', 'the file is empty'],
    ['nothing but lines', '\n\n\n', 'the file is empty'],
    ['Latin 1', Buffer.from('time,größe\n1,7\n', 'latin1'), 'calls.csv:1: the line is no UTF-8; allowed: UTF-8, or'],
    [
      'keys that would be one',
      Buffer.from(`time,a\n${'1,7\n'.repeat(500)}1,M\xfcller\n`, 'latin1'),
      'calls.csv:502: the line is no UTF-8',
    ],
    ['half a character at the end', Buffer.from('time,a\n1,7\n2,\xc3', 'latin1'), 'calls.csv:3: the line is no UTF-8'],
    [
      'UTF-16 without its mark',
      Buffer.from('time,a\n1,7\n', 'utf16le'),
      '(NUL); allowed: UTF-8, or UTF-16 with its mark; `iconv -f UTF-16LE',
    ],
    ['a file whose end was lost', `time,a\n1,7\n${'\0'.repeat(4096)}`, 'calls.csv:3: the line is no text (NUL)'],
    ['gzip of gzip', gzipSync(gzipSync(MS)), 'is packed by gzip twice'],
    ['JSON lines', '{"time":1,"a":7}\n{"time":2,"a":7}\n', 'is JSON; allowed: CSV; e.g. `jq -r'],
    ['JSON', '[\n  { "time": 1 }\n]\n', 'is JSON; allowed'],
    ['a page of a login', '<!DOCTYPE html><html>\n', 'is HTML or XML; allowed: CSV'],
    [
      'an access log',
      '10.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET /x?a=1 HTTP/1.1" 200 512 "-" "curl/8"\n',
      'calls.csv:1: the file is an access log of a web server; allowed: CSV; a header, times as',
    ],
    ['a log of IIS', '#Software: Microsoft Internet Information Services 10.0\n', 'is a log with directives'],
    ['a packed recording', gzipSync('qmrec001..........'), 'is a recording that is packed'],
  ])('%s: refused with a remedy', async ([, text, says]) => {
    await expect(atMs(text as string)).rejects.toMatchObject({
      code: 'TRACE_INVALID',
      message: expect.stringContaining(says),
    });
  });

  test('what is asked about is taken as the flag says', async () => {
    expect(await atMs('time,a\n0,7\n30000,7\n', { timeFormat: 'ms' })).toEqual([0, 30_000]);
    const rounded = file((second) => (second * 1000).toExponential(5));
    expect(new Set(await atMs(rounded, { timeFormat: 'ms' }))).toEqual(new Set([0]));
  });

  test('commas between thousands, in quotes where commas divide', async () => {
    const amounts = async (text: string) =>
      (await rowsOf(text, { bytes: 'a', delimiter: undefined })).map(({ bytes }) => bytes);
    expect(await amounts('time,a\n1,"1,100"\n2,"1,234,567.5"\n3,1.5e3\n')).toEqual([1100, 1_234_567.5, 1500]);
    expect(await amounts('time;a\n1;1,234,567\n')).toEqual([1_234_567]);
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
    ['time,a\n1,2\n2,"x\n3,4\n', {}, 'calls.csv:3: the row is no CSV (quote not closed); allowed: RFC 4180'],
    ['time,a\u200b\n1,2\n', { bytes: 'a' }, 'Did you mean "a\\u{200b}"?; allowed: "time", "a\\u{200b}"'],
    ['time\n10\n20\n15\n', {}, 'calls.csv:4: time is 5 s before a row above; allowed: at most 1 s'],
    ['time\n0\n100000\n', {}, 'calls.csv:3: time is 27.8 h after the first at --speed 1; allowed: at most 24 h'],
    ['time\n1\n\u001b[31m\n', {}, 'calls.csv:3: time is "\\u001b[31m"; allowed'],
    ['\ntime,a\n\n1,2\n3,4\n\n5,6"\n7,8\n', {}, 'calls.csv:7: the row is no CSV (invalid opening quote)'],
    ['time,a\n1,2\n\n3,4\n\n"x\n\n5,6\n', {}, 'calls.csv:6: the row is no CSV (quote not closed)'],
  ] as const)('%j %j', async ([text, options, message]) => {
    // In chunks, and as a whole: a parser has read on when a row is yielded.
    for (const isWhole of [false, true]) {
      await expect(rowsOf(text, options, isWhole)).rejects.toMatchObject({
        code: 'TRACE_INVALID',
        message: expect.stringContaining(message),
      });
    }
  });
});

describe('order', () => {
  test('rows up to a second late are put where they belong, whatever their order', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 60 });
    const lateness = fc.array(fc.integer({ min: 0, max: LATE_MS_MAX - 1 }), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(times, lateness, async (due, late) => {
        // Written when the work ended: in order of begin + lateness.
        const written = due.map((ms, at) => ({ ms, at: ms + late[at] })).sort((one, other) => one.at - other.at);
        const rows = await rowsOf(`time\n${written.map(({ ms }) => ms).join('\n')}\n`, { timeFormat: 'ms' });
        const first = written[0].ms;
        const expected = due.map((ms) => Math.max(0, ms - first)).sort((one, other) => one - other);
        expect(rows.map(({ atMs }) => atMs)).toEqual(expected);
      }),
      runs(60),
    );
  });

  test('the window is of the recorded time, not of the played one', async () => {
    expect((await rowsOf('time\n0\n5\n4.5\n', { speed: 100 })).map(({ atMs }) => atMs)).toEqual([0, 45, 50]);
    await expect(rowsOf('time\n0\n5\n3.5\n', { speed: 100 })).rejects.toThrow('1.5 s before a row above');
  });
});
