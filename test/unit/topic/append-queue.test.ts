import { expect, test } from 'vitest';
import { AppendQueue } from '../../../src/topic/embedded/append-queue.js';
import type { CommitGate } from '../../../src/topic/embedded/commit-gate.js';
import { encodeEntry } from '../../../src/topic/embedded/log-entry.js';

const MIB = 1024 * 1024;

/** How many records each transaction takes of appends that all wait when the gate opens. */
async function transactions(appends: readonly { readonly records: number; readonly bytes?: number }[]) {
  const sizes: number[] = [];
  const gate = { enter: async () => ({ leave: () => undefined }) } as unknown as CommitGate;
  const queue = new AppendQueue({
    topic: 'test',
    appendTimeoutMs: 10_000,
    gate,
    commit: async (entries) => void sizes.push(entries.length),
    onCommitted: () => undefined,
    onAppendFailed: () => undefined,
    onLost: (reason) => expect.fail(reason),
  });
  await Promise.all(appends.map(({ records, bytes = 10 }) => queue.append(entriesOf(records, bytes))));
  return sizes;
}

function entriesOf(records: number, bytes: number): Buffer[] {
  const value = Buffer.alloc(bytes);
  return Array.from({ length: records }, () => encodeEntry({ partition: 0, key: 'key', value }));
}

test('appends that wait go into one transaction', async () => {
  expect(await transactions([{ records: 1 }, { records: 2 }, { records: 3 }])).toEqual([6]);
});

test('of 2,000 records at most, whole appends each', async () => {
  expect(await transactions([{ records: 1000 }, { records: 1000 }, { records: 1 }])).toEqual([2000, 1]);
  expect(await transactions([{ records: 1000 }, { records: 1001 }, { records: 5 }])).toEqual([1000, 1006]);
});

test('of 4 MiB at most', async () => {
  const twoMib = { records: 1, bytes: 2 * MIB - 200 };
  expect(await transactions([twoMib, twoMib, twoMib])).toEqual([2, 1]);
});

test('a larger append is a transaction of its own, and the next one begins another', async () => {
  expect(await transactions([{ records: 3000 }, { records: 1 }])).toEqual([3000, 1]);
  expect(await transactions([{ records: 1 }, { records: 1, bytes: 5 * MIB }, { records: 1 }])).toEqual([1, 1, 1]);
});
