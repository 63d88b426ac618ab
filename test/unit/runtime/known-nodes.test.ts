import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KnownNodesFile } from '../../../src/node/loop/known-nodes.js';

const MINUTE_MS = 60_000;

let folder: string;
let path: string;
let lines: { readonly text: string; readonly facts: object }[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-known-'));
  path = join(folder, 'known.json');
  lines = [];
});
/** A write may still be under way, which ends only while nothing blocks. */
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

function opened(): KnownNodesFile {
  const log = (_level: string, text: string, facts: object) => void lines.push({ text, facts });
  return new KnownNodesFile(path, 'shop', { log } as never);
}

/** What is in the file, once everything has been written. */
async function written(): Promise<unknown> {
  await expect.poll(() => readFileSync(path, 'utf8')).toMatch(/\n$/);
  return JSON.parse(readFileSync(path, 'utf8'));
}

test('what is seen is there after the next start, and of this cluster alone', async () => {
  opened().seen({ nodes: 3, partitions: 8 }, 0);
  expect(await written()).toEqual({ cluster: 'shop', nodes: 3, partitions: 8 });
  expect(opened().kept).toEqual({ nodes: 3, partitions: 8 });
  writeFileSync(path, readFileSync(path, 'utf8').replace('shop', 'other'));
  expect(opened().kept).toBe(null);
  expect(lines).toEqual([]);
});

test('more nodes are believed at once, fewer after ten minutes: the most that there were meanwhile', async () => {
  const file = opened();
  file.seen({ nodes: 3, partitions: 1 }, 0);
  await written();
  // Nodes are stopped one after the other: 3, 2, 1.
  file.seen({ nodes: 2, partitions: 1 }, MINUTE_MS);
  file.seen({ nodes: 1, partitions: 1 }, 2 * MINUTE_MS);
  file.seen({ nodes: 1, partitions: 1 }, 11 * MINUTE_MS - 1);
  expect(file.kept?.nodes).toBe(3);
  file.seen({ nodes: 1, partitions: 1 }, 11 * MINUTE_MS);
  expect(file.kept?.nodes).toBe(2);
  await expect.poll(written).toMatchObject({ nodes: 2 });
  file.seen({ nodes: 5, partitions: 1 }, 11 * MINUTE_MS + 1);
  expect(file.kept?.nodes).toBe(5);
});

test('a node that comes back ends the ten minutes', async () => {
  const file = opened();
  file.seen({ nodes: 3, partitions: 1 }, 0);
  await written();
  file.seen({ nodes: 2, partitions: 1 }, 0);
  file.seen({ nodes: 3, partitions: 1 }, 9 * MINUTE_MS);
  file.seen({ nodes: 2, partitions: 1 }, 10 * MINUTE_MS);
  file.seen({ nodes: 2, partitions: 1 }, 19 * MINUTE_MS);
  expect(file.kept?.nodes).toBe(3);
});

test('another number of partitions is believed at once, and fewer nodes not by it', async () => {
  const file = opened();
  file.seen({ nodes: 3, partitions: 1 }, 0);
  await written();
  file.seen({ nodes: 2, partitions: 8 }, 1000);
  expect(file.kept).toEqual({ nodes: 3, partitions: 8 });
});

test.each([
  ['damaged', '{"cluster":"shop","no'],
  ['no object', '[3]'],
  ['without partitions', '{"cluster":"shop","nodes":3}'],
  ['of half a node', '{"cluster":"shop","nodes":0.5,"partitions":1}'],
  ['of a text', '{"cluster":"shop","nodes":"3","partitions":1}'],
])('a file that is %s counts for nothing, and is written anew', async (_, text) => {
  writeFileSync(path, text);
  const file = opened();
  expect(file.kept).toBe(null);
  file.seen({ nodes: 2, partitions: 1 }, 0);
  await expect.poll(() => readFileSync(path, 'utf8')).toBe('{"cluster":"shop","nodes":2,"partitions":1}\n');
});

test('a file that cannot be read or written is told once, and stops nothing', async () => {
  mkdirSync(path);
  const file = opened();
  expect(lines).toMatchObject([{ text: 'start.file cannot be read', facts: { file: path } }]);
  for (const nodes of [2, 3, 4]) {
    // What comes while the last one is being written is taken at the next call.
    const seen = () => {
      file.seen({ nodes, partitions: 1 }, 0);
      return file.kept?.nodes;
    };
    await expect.poll(seen).toBe(nodes);
  }
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toMatchObject({ text: 'start.file cannot be written', facts: { file: path } });
});
