import { expect } from 'vitest';
import type { ReadRecord } from '../../src/base/ports/report-topic.js';
import { quantileOf } from '../../src/tools/load/quantile.js';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { EmbeddedProcesses, type Participant } from './embedded-processes.js';

/** Ten times what the writer beside was seen to wait on a machine with more to do than it has cores. */
const APPEND_TIMEOUT_MS = 5000;
/** A writer lives for so many commits, then for a random time more. */
const COMMITS_BEFORE_KILL = 100;
const RANDOM_LIFE_MS = 50;
/** Started together, then used up one by one: a process takes longer to start than to live. */
const STARTED_TOGETHER = 5;

export interface KillFigures {
  kills: number;
  /** How many were killed between the start of LMDB's transaction and its end. */
  insideCommit: number;
  acknowledged: number;
  commitsPerSecond: number[];
}

/**
 * Kills a writer that commits as fast as it can, again and again, beside one reader and one writer that live on.
 * Nothing acknowledged may be missing, nobody may be blocked.
 */
export async function killWriters(rounds: number): Promise<KillFigures> {
  const processes = await EmbeddedProcesses.begin();
  const listener = new NumberListener();
  const reader = new EmbeddedTopic({ path: processes.path, appendTimeoutMs: APPEND_TIMEOUT_MS });
  try {
    await reader.open(listener);
    const bystander = await processes.start('embedded-writer.mjs', writerFacts('bystander', 25));
    bystander.send('go');
    const figures = await killAll(processes, listener, rounds);
    bystander.send('stop');
    const beside = await bystander.says<{ failed: number; slowestMs: number }>(isReport, 10_000);
    expect(beside.failed, 'appends of the writer beside').toBe(0);
    expect(beside.slowestMs).toBeLessThan(APPEND_TIMEOUT_MS);
    expect(await bystander.exitsWithin(5000)).toEqual({ code: 0, signal: null });
    expect(listener.lost).toEqual([]);
    await checkNewcomer(processes.path, listener);
    print(figures, beside.slowestMs);
    return figures;
  } finally {
    await reader.close();
    await processes.nothingLeftBehind();
    await processes.end();
  }
}

async function killAll(processes: EmbeddedProcesses, listener: NumberListener, rounds: number): Promise<KillFigures> {
  const figures: KillFigures = { kills: 0, insideCommit: 0, acknowledged: 0, commitsPerSecond: [] };
  let standby: Participant[] = [];
  for (let round = 0; round < rounds; round++) {
    if (standby.length === 0) {
      standby = await startWriters(processes, round, Math.min(STARTED_TOGETHER, rounds - round));
    }
    const writer = standby.shift() as Participant;
    const lifeMs = await liveAndDie(writer);
    const acknowledged = lastAcknowledged(writer.output);
    figures.kills++;
    figures.insideCommit += isInsideCommit(writer.output) ? 1 : 0;
    figures.acknowledged += acknowledged;
    figures.commitsPerSecond.push((acknowledged * 1000) / lifeMs);
    await expectNothingLost(listener, `writer-${round}`, acknowledged);
  }
  return figures;
}

function startWriters(processes: EmbeddedProcesses, first: number, count: number): Promise<Participant[]> {
  const rounds = Array.from({ length: count }, (_, i) => first + i);
  return Promise.all(rounds.map((round) => processes.start('embedded-writer.mjs', writerFacts(`writer-${round}`, 0))));
}

/** Milliseconds from the first acknowledged record to the kill. */
async function liveAndDie(writer: Participant): Promise<number> {
  writer.send('go');
  await writer.writes((output) => lastAcknowledged(output) > 0, 10_000);
  const startedAt = performance.now();
  await writer.writes((output) => lastAcknowledged(output) >= COMMITS_BEFORE_KILL, 10_000);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * RANDOM_LIFE_MS));
  writer.kill();
  const lifeMs = performance.now() - startedAt;
  expect(await writer.exitsWithin(5000)).toEqual({ code: null, signal: 'SIGKILL' });
  return lifeMs;
}

/** The running reader has every record up to the last acknowledged one, in order, and at most one more. */
async function expectNothingLost(listener: NumberListener, key: string, acknowledged: number): Promise<void> {
  await listener.until(`${key} up to ${acknowledged}`, () => listener.countOf(key) >= acknowledged, 5000);
  expect(listener.outOfOrder).toEqual([]);
  expect(listener.countOf(key) - acknowledged).toBeLessThanOrEqual(1);
}

/** The leftover folder opens, and holds the newest record of everybody. */
async function checkNewcomer(path: string, seen: NumberListener): Promise<void> {
  const topic = new EmbeddedTopic({ path, appendTimeoutMs: APPEND_TIMEOUT_MS });
  const listener = new RecordingListener();
  try {
    await topic.open(listener);
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, 5000);
    for (const [key, value] of listener.newest) {
      await seen.until(
        `the newest of ${key}`,
        () => seen.countOf(key) === Number(Buffer.from(value ?? []).toString()),
        5000,
      );
    }
    expect(listener.newest.size).toBe(seen.keys);
  } finally {
    await topic.close();
  }
}

/** Keeps only what the check needs: every writer counts from 1, so the newest number is also how many there are. */
class NumberListener extends RecordingListener {
  readonly outOfOrder: string[] = [];
  readonly #counts = new Map<string, number>();

  get keys(): number {
    return this.#counts.size;
  }

  override onRecords(records: readonly ReadRecord[]): void {
    for (const { key, value } of records) {
      const number = Number(Buffer.from(value ?? []).toString());
      if (number !== this.countOf(key) + 1) this.outOfOrder.push(`${key}: ${number} after ${this.countOf(key)}`);
      this.#counts.set(key, number);
    }
    super.onRecords([]);
  }

  countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

function writerFacts(key: string, pauseMs: number): Readonly<Record<string, unknown>> {
  return { key, pauseMs, appendTimeoutMs: APPEND_TIMEOUT_MS };
}

function lastAcknowledged(output: string): number {
  const end = output.lastIndexOf('\n');
  return end < 0 ? 0 : Number(output.slice(output.lastIndexOf(')', end) + 1, end));
}

function isInsideCommit(output: string): boolean {
  return output.lastIndexOf('(') > output.lastIndexOf(')');
}

function isReport(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'slowestMs' in message;
}

function print(figures: KillFigures, slowestMs: number): void {
  const at = (part: number) => Math.round(quantileOf(figures.commitsPerSecond, part));
  console.log(
    `embedded topic: ${figures.kills} writers killed -9, ${figures.insideCommit} of them inside a commit; ` +
      `${figures.acknowledged} records acknowledged, 0 lost; commits/s p10 ${at(0.1)}, p50 ${at(0.5)}, p90 ${at(0.9)}; ` +
      `slowest append of the writer beside ${slowestMs.toFixed(0)} ms`,
  );
}
