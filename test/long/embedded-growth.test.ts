import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { EmbeddedProcesses } from '../integration/embedded-processes.js';

/** Dead readers are looked for every 5 s. */
const READER_CHECK_MS = 5000;
const MIB = 1024 ** 2;

let processes: EmbeddedProcesses;

beforeEach(async () => {
  processes = await EmbeddedProcesses.begin();
});

afterEach(() => processes.end());

it('uses the pages again that a killed reader held, without anybody opening the topic anew', async () => {
  const writer = new EmbeddedTopic({ path: processes.path, appendTimeoutMs: 5000, tailMs: 1000 });
  await writer.open(new RecordingListener());
  try {
    await appendFor(writer, 5000);
    const settled = await dataBytes();
    const reader = await processes.start('lmdb-snapshot-holder.mjs');
    await appendFor(writer, READER_CHECK_MS);
    reader.kill();
    await reader.exited;
    await appendFor(writer, 2 * READER_CHECK_MS);
    const held = await dataBytes();
    await appendFor(writer, 2 * READER_CHECK_MS);
    const after = await dataBytes();
    const print = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;
    console.log(
      `embedded topic: data file ${print(settled)}, ${print(held)} with the snapshot of a reader that was then killed, ` +
        `${print(after)} after 10 s more`,
    );
    expect(held).toBeGreaterThan(2 * settled);
    expect(after).toBeLessThan(1.1 * held);
  } finally {
    await writer.close();
  }
}, 180_000);

it('keeps file and memory of three nodes bounded at 50 appends per second and node', async () => {
  const facts = { appendTimeoutMs: 2000, appendEveryMs: 20 };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((key) => processes.start('embedded-participant.mjs', { key, ...facts })),
  );
  for (const node of nodes) node.send('append');
  const figures: { bytes: number; heapMiB: number }[] = [];
  // The first look comes when the tail (30 s) is full.
  for (let look = 0; look < 3; look++) {
    await sleep(45_000);
    for (const node of nodes) node.send('report');
    const reports = await Promise.all(nodes.map((node) => node.says<Report>((message) => message !== 'ready', 5000)));
    for (const report of reports) {
      expect(report).toMatchObject({ lost: 0, failures: [] });
      expect(report.appends.failed).toEqual({});
    }
    figures.push({ bytes: await dataBytes(), heapMiB: Math.max(...reports.map((report) => report.heapMiB)) });
  }
  const [first, , last] = figures;
  console.log(`embedded topic: data file and largest heap every 45 s: ${JSON.stringify(figures)}`);
  expect(last.bytes).toBeLessThanOrEqual(1.2 * first.bytes);
  expect(last.heapMiB).toBeLessThanOrEqual(1.1 * first.heapMiB + 1);
}, 300_000);

interface Report {
  readonly lost: number;
  readonly failures: readonly string[];
  readonly appends: { readonly failed: Readonly<Record<string, number>> };
  readonly heapMiB: number;
}

async function appendFor(topic: EmbeddedTopic, durationMs: number): Promise<void> {
  const until = performance.now() + durationMs;
  const value = Buffer.alloc(1000, 1);
  for (let i = 0; performance.now() < until; i++) {
    await topic.append([{ partition: 0, key: `key-${i % 20}`, value }]);
    await sleep(5);
  }
}

async function dataBytes(): Promise<number> {
  const names = (await readdir(processes.path)).filter((name) => name.endsWith('.mdb'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(processes.path, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
