import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';

const BYTES = 100_000_000;
/** V8's heap; the nodes, the topic and what is in flight of the file take some 20 MB of it. */
const HEAP_MB = 64;

test('a trace of 100 MB is played from standard input in 64 MB of heap', async () => {
  const flags = ['--time', 'TIMESTAMP', '--bytes', 'ContextTokens+GeneratedTokens', '--quota', '1500', '--json'];
  const program = [
    `--max-old-space-size=${HEAP_MB}`,
    COMMAND_FILE,
    'sim',
    'replay',
    '-',
    '--system',
    'max-min',
    ...flags,
  ];
  const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  let rows = 0;
  function* chunks() {
    let written = 0;
    yield 'TIMESTAMP,ContextTokens,GeneratedTokens\n';
    while (written < BYTES) {
      let chunk = '';
      for (let line = 0; line < 1000; line++, rows++) {
        chunk += `${(1_700_000_000_000 + rows / 2).toFixed(3)},${1000 + (rows % 977)},${rows % 97}\n`;
      }
      written += chunk.length;
      yield chunk;
    }
  }
  await pipeline(Readable.from(chunks()), child.stdin);
  expect(await exit).toBe(0);
  const [run] = JSON.parse(output).runs;
  expect(run.offered).toBe(rows);
  // 2,000 a second are asked for, 1,500 allowed.
  expect(run.admitted / run.offered).toBeGreaterThan(0.72);
  expect(run.admitted / run.offered).toBeLessThan(0.79);
  expect(run.series[0].quota.length).toBeLessThan(2400);
  console.log(`replay: ${rows} rows, ${run.durationMs / 1000} s of traffic in ${HEAP_MB} MB of heap`);
});
