import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitGate, type GateHold } from '../../src/topic/embedded/commit-gate.js';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { LogStore } from '../../src/topic/embedded/log-store.js';
import { makeTopicFolder } from '../../src/topic/embedded/topic-folder.js';
import type { TopicWorld } from './topic-scene.js';

export const EMBEDDED = { appendTimeoutMs: 500 };
const FILE_BYTES_MAX = 64 * 1024 ** 2;

/** @param durable as the registry's log is */
export async function embeddedWorld(durable: boolean, appendTimeoutMs: number): Promise<TopicWorld> {
  const path = await mkdtemp(join(tmpdir(), 'quotamesh-embedded-'));
  const folder = await makeTopicFolder(path, durable);
  const gate = new CommitGate(folder.gateName);
  let blocking: GateHold | undefined;
  const enter = async () => (await gate.enter(AbortSignal.timeout(5000))) ?? Promise.reject(new Error('gate is shut'));
  return {
    makeTopic: () => new EmbeddedTopic({ path, appendTimeoutMs, durable, fileBytesMax: FILE_BYTES_MAX }),
    compact: async () => {
      const hold = await enter();
      await moveTailToTheEnd(folder.dataFile);
      hold.leave();
    },
    makeAnew: async () => {
      await rm(path, { recursive: true });
    },
    // What a frozen writer does to the others; test/integration/embedded-frozen-writer.test.ts has a real one.
    breakTopic: async () => {
      blocking = await enter();
    },
    healTopic: async () => {
      blocking?.leave();
      blocking = undefined;
    },
    dispose: () => rm(path, { recursive: true, force: true }),
  };
}

/** Writers compact as they append; with no tail to keep and nothing to append they only compact. */
async function moveTailToTheEnd(dataFile: string): Promise<void> {
  const limits = { fileBytesMax: FILE_BYTES_MAX, tailMs: -1, tailRecords: 0, tailBytes: 0, tombstoneKeepMs: -1 };
  const store = await LogStore.open(dataFile, limits);
  for (let commit = 0; commit < 100; commit++) await store.append([]);
  await store.close();
}
