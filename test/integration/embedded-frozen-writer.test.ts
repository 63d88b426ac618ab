import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it, type TestContext } from 'vitest';
import type { ChildExit } from '../../src/tools/processes/child.js';
import { isDrawn } from '../property/seed.js';
import { EmbeddedProcesses, type Participant } from './embedded-processes.js';

const APPEND_TIMEOUT_MS = 500;
const FROZEN_MS = 2000;
/** Measured below 1 s. */
const SETTLED_MS = 20_000;
/** Measured 5 … 15 ms; a frozen event loop would show all of FROZEN_MS. */
const LAG_MAX_MS = 500;

interface Report {
  readonly isOpen: boolean;
  readonly records: number;
  readonly lost: number;
  readonly recovered: number;
  readonly failures: readonly string[];
  readonly appends: {
    readonly done: number;
    readonly slowestMs: number;
    readonly failed: Readonly<Record<string, number>>;
  };
  readonly worstLagMs: number;
  readonly cpuPercent: number;
}

describe('a writer frozen (SIGSTOP) inside a commit', () => {
  it.runIf(isDrawn(1)).concurrent(
    'is a topic outage for the others: bounded waits, free event loops, recovery',
    async ({ expect, onTestFinished }) => {
      const processes = await beginProcesses(onTestFinished);
      const other = await startNode(processes, 'other');
      other.send('append');
      const writer = await freezeInsideCommit(processes);
      await report(other);
      await sleep(FROZEN_MS);
      const frozen = await report(other);
      writer.signal('SIGCONT');
      const settled = await reportWhen(other, ({ recovered, lost }) => recovered === lost);
      const after = await reportWhen(other, ({ appends }) => appends.done > 10);
      print('frozen', frozen);
      print('after ', after);
      expect(frozen.worstLagMs).toBeLessThan(LAG_MAX_MS);
      expect(frozen.appends.done).toBe(0);
      expect(Object.keys(frozen.appends.failed)).toEqual(['APPEND_TIMED_OUT']);
      // A node that waits for its turn longer than an append may take is lost before, too, and found again.
      expect(frozen).toMatchObject({ recovered: frozen.lost - 1, failures: [] });
      expect(settled).toMatchObject({ lost: frozen.lost, recovered: frozen.lost, failures: [] });
      expect(after.appends.failed).toEqual({});
      expect(await stopNode(other)).toEqual({ code: 0, signal: null });
    },
    60_000,
  );

  it.runIf(isDrawn(2)).concurrent(
    'keeps a newcomer waiting, with a free event loop, until it goes on',
    async ({ expect, onTestFinished }) => {
      const processes = await beginProcesses(onTestFinished);
      const writer = await freezeInsideCommit(processes);
      const newcomer = await startNode(processes, 'newcomer', { openAtOnce: false });
      newcomer.send('open');
      await sleep(FROZEN_MS);
      const frozen = await report(newcomer);
      expect(frozen).toMatchObject({ isOpen: false, lost: 1, recovered: 0 });
      expect(frozen.worstLagMs).toBeLessThan(LAG_MAX_MS);
      writer.signal('SIGCONT');
      const after = await reportWhen(newcomer, ({ isOpen, recovered }) => isOpen && recovered === 1);
      expect(after).toMatchObject({ lost: 1, failures: [] });
      expect(await stopNode(newcomer)).toEqual({ code: 0, signal: null });
    },
    60_000,
  );

  it.runIf(isDrawn(3)).concurrent(
    'lets the others close within 2 s and exit with code 0',
    async ({ expect, onTestFinished }) => {
      const processes = await beginProcesses(onTestFinished);
      const other = await startNode(processes, 'other');
      const opening = await startNode(processes, 'opening', { openAtOnce: false });
      other.send('append');
      await freezeInsideCommit(processes);
      opening.send('open');
      await sleep(1000);
      for (const node of [other, opening]) {
        node.send('close');
        const { closeMs } = await node.says<{ closeMs: number }>(isOfKind('closed'), 10_000);
        expect(closeMs).toBeLessThan(2000);
        expect(await node.exitsWithin(2000)).toEqual({ code: 0, signal: null });
      }
    },
    30_000,
  );

  it.runIf(isDrawn(4)).concurrent(
    'blocks nobody any more once it is killed',
    async ({ expect, onTestFinished }) => {
      const processes = await beginProcesses(onTestFinished);
      const other = await startNode(processes, 'other');
      other.send('append');
      const writer = await freezeInsideCommit(processes);
      await sleep(1000);
      writer.kill();
      const after = await reportWhen(other, ({ appends, lost, recovered }) => appends.done > 10 && recovered === lost);
      expect(after.lost).toBeGreaterThan(0);
      expect(after.failures).toEqual([]);
      expect(await stopNode(other)).toEqual({ code: 0, signal: null });
    },
    60_000,
  );
});

describe("a foreign program frozen inside LMDB's lock, past the gate", () => {
  it.runIf(isDrawn(5)).concurrent(
    'is a topic outage too: free event loop, close within 2 s, exit by signal',
    async ({ expect, onTestFinished }) => {
      const processes = await beginProcesses(onTestFinished);
      const other = await startNode(processes, 'other');
      const closing = await startNode(processes, 'closing');
      const holder = await processes.start('lmdb-lock-holder.mjs');
      await sleep(500);
      await report(other);
      other.send('append');
      await sleep(FROZEN_MS);
      const frozen = await report(other);
      expect(frozen.worstLagMs).toBeLessThan(LAG_MAX_MS);
      expect(frozen.appends.done).toBe(0);
      expect(frozen).toMatchObject({ recovered: frozen.lost - 1, failures: [] });
      other.send('close');
      const { closeMs } = await other.says<{ closeMs: number }>(isOfKind('closed'), 10_000);
      expect(closeMs).toBeLessThan(2000);
      // Its thread is stuck in a lock that only the holder can give back: nothing but a signal ends such a process.
      expect(await other.exitsWithin(2000)).toEqual({ code: null, signal: 'SIGKILL' });
      holder.signal('SIGCONT');
      expect(await holder.exitsWithin(5000)).toEqual({ code: 0, signal: null });
      closing.send('append');
      await reportWhen(closing, ({ appends }) => appends.done > 10);
      expect(await stopNode(closing)).toEqual({ code: 0, signal: null });
    },
    60_000,
  );
});

/** The tests sleep most of the time, so they run side by side, each in a folder of its own. */
async function beginProcesses(onTestFinished: TestContext['onTestFinished']): Promise<EmbeddedProcesses> {
  const processes = await EmbeddedProcesses.begin();
  onTestFinished(() => processes.end());
  return processes;
}

function startNode(
  processes: EmbeddedProcesses,
  key: string,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<Participant> {
  return processes.start('embedded-participant.mjs', { key, appendTimeoutMs: APPEND_TIMEOUT_MS, ...facts });
}

function stopNode(node: Participant): Promise<ChildExit> {
  node.send('close');
  return node.exitsWithin(5000);
}

/** Stops a writer at random until it has been stopped between the start of a transaction and its end. */
async function freezeInsideCommit(processes: EmbeddedProcesses): Promise<Participant> {
  const writer = await processes.start('embedded-writer.mjs', { key: 'frozen', pauseMs: 1, appendTimeoutMs: 10_000 });
  writer.send('go');
  await writer.writes((output) => output.includes('\n'), 10_000);
  for (let attempt = 0; attempt < 200; attempt++) {
    await sleep(Math.random() * 20);
    writer.signal('SIGSTOP');
    // What it wrote before it was stopped takes a moment to arrive.
    await sleep(50);
    if (writer.output.lastIndexOf('(') > writer.output.lastIndexOf(']')) return writer;
    writer.signal('SIGCONT');
  }
  throw new Error('never stopped inside a commit');
}

async function report(node: Participant): Promise<Report> {
  node.send('report');
  return node.says<Report>(isOfKind('report'), 5000);
}

/** What is appended is counted since the report before; the rest since the beginning. */
async function reportWhen(node: Participant, holds: (report: Report) => boolean): Promise<Report> {
  const givenUpAt = performance.now() + SETTLED_MS;
  for (;;) {
    await sleep(1000);
    const said = await report(node);
    if (holds(said)) return said;
    if (performance.now() > givenUpAt) throw new Error(`not within ${SETTLED_MS} ms: ${JSON.stringify(said)}`);
  }
}

function isOfKind(kind: string): (message: unknown) => boolean {
  return (message) => typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind;
}

function print(when: string, { worstLagMs, appends, cpuPercent }: Report): void {
  const failed = JSON.stringify(appends.failed);
  console.log(
    `embedded topic, ${when}: event-loop lag of the other process at most ${worstLagMs.toFixed(1)} ms, ` +
      `appends done ${appends.done} (slowest ${appends.slowestMs.toFixed(1)} ms), failed ${failed}, cpu ${cpuPercent.toFixed(1)} %`,
  );
}
