/**
 * What a node's event loop pays to read a whole log in turns of 1,000 records, and one restart of a node in it. The records are
 * decoded already: the codec and the adapter have their own figures. All times are CPU time of the process. Turns in which
 * garbage was collected are told apart: most of it are the records themselves, and the collector's threads are counted, too.
 * The first turns of a process are of code that is not compiled yet: see the first log.
 */
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../src/core/base/ids.js';
import type { Append, ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  partitionOf,
  type ReportRow,
  reportRecordKey,
} from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { DIRECTION_COUNT, type GroupId } from '../../src/core/base/vocabulary.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';

export interface Log {
  readonly nodes: number;
  readonly keysPerNode: number;
  readonly partitions: number;
}

setFlagsFromString('--expose-gc');
/** Without it the log that was read before is counted, or is given back while this one is read. */
const collectGarbage = runInNewContext('gc') as () => void;

const TURN_RECORDS = 1000;
const AIM_MS = 20;
const ROWS_PER_RECORD = 6;
const MEBI = 1024 * 1024;

export async function measureCatchUp(
  log: Log,
  core: Omit<CoordinatorSettings, 'nodeId' | 'partitions'>,
): Promise<void> {
  const settings = { ...core, nodeId: 'reader', partitions: log.partitions };
  const coordinator = new Coordinator(settings, new Limiter(core.groups.length * DIRECTION_COUNT));
  const reading = new Turns(coordinator, log.partitions);
  const before = memoryBytes();
  for (let partition = 0; partition < log.partitions; partition++) {
    let turn: Append[] = [];
    for (const append of recordsOf(log, partition, settings.cluster)) {
      if (turn.push(append) < TURN_RECORDS) continue;
      await reading.read(turn);
      turn = [];
    }
    await reading.read(turn);
  }
  const { records, cpuMs } = reading;
  const { usageMap } = coordinator;
  const { own, collecting } = reading.turns();
  console.log(
    `catching up, ${log.nodes} nodes × ${log.keysPerNode} keys on ${log.partitions} partitions: ${records} records in ` +
      `${(cpuMs / 1000).toFixed(2)} s of CPU, ${((1000 * cpuMs) / records).toFixed(1)} µs each; ${usageMap.steps} look-ups ` +
      `beside; ${((memoryBytes() - before) / MEBI).toFixed(0)} MiB for ${usageMap.entryCount} keys and ` +
      `${usageMap.rows.count} rows`,
  );
  console.log(`  turns of ${TURN_RECORDS} records: ${textOf(own)}; while garbage was collected: ${textOf(collecting)}`);
  const restart = new Turns(coordinator, log.partitions, reading.nextOffset);
  for (let partition = 0; partition < log.partitions; partition++) {
    await restart.read([signOf(0, partition, 2, settings.cluster)]);
  }
  restart.turns();
  console.log(`  one node starts again: ${restart.cpuMs.toFixed(2)} ms of CPU at every other node`);
}

interface Turn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cpuMs: number;
}

function textOf(turnsMs: readonly number[]): string {
  const sorted = [...turnsMs].sort((one, other) => one - other);
  const above = sorted.filter((ms) => ms > AIM_MS).length;
  const middle = sorted[sorted.length >> 1] ?? 0;
  const worst = sorted.at(-1) ?? 0;
  return `${sorted.length}, median ${middle.toFixed(1)}, worst ${worst.toFixed(1)} ms, ${above} above ${AIM_MS} ms`;
}

class Turns {
  records = 0;
  cpuMs = 0;
  readonly nextOffset: number[];
  readonly #coordinator: Coordinator;
  readonly #turns: Turn[] = [];
  readonly #pauses: PerformanceEntry[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#pauses.push(...list.getEntries()));

  constructor(coordinator: Coordinator, partitions: number, nextOffset = new Array<number>(partitions).fill(0)) {
    this.#coordinator = coordinator;
    this.nextOffset = nextOffset;
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  async read(appends: readonly Append[]): Promise<void> {
    const records = appends.map((append) => this.#inLog(append));
    // Observers are told of collections between turns.
    await nextTurn();
    const fromMs = performance.now();
    const cpu = process.cpuUsage();
    this.#coordinator.step({ kind: 'records-read', records }, 0);
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1000;
    this.#turns.push({ fromMs, toMs: performance.now(), cpuMs });
    this.cpuMs += cpuMs;
    this.records += records.length;
  }

  /** CPU time of the turns in which nothing was collected, and of the others. */
  turns(): { readonly own: readonly number[]; readonly collecting: readonly number[] } {
    this.#pauses.push(...this.#observer.takeRecords());
    this.#observer.disconnect();
    const [own, collecting]: [number[], number[]] = [[], []];
    for (const { fromMs, toMs, cpuMs } of this.#turns) {
      const isCollecting = this.#pauses.some((pause) => {
        return pause.startTime < toMs && pause.startTime + pause.duration > fromMs;
      });
      (isCollecting ? collecting : own).push(cpuMs);
    }
    return { own, collecting };
  }

  #inLog(append: Append): ReadEvent {
    const offset = this.nextOffset[append.partition];
    this.nextOffset[append.partition] = offset + 1;
    return { ...append, offset, appendMs: 1e12 };
  }
}

/** As compaction leaves it: every key once, node by node, and behind them the newest records, the signs of life. */
function* recordsOf({ nodes, keysPerNode, partitions }: Log, partition: number, cluster: string): Generator<Append> {
  const groupIds = groupsOn(partition, partitions, ROWS_PER_RECORD * Math.ceil(keysPerNode / partitions));
  for (let node = 0; node < nodes; node++) {
    for (let bundle = partition; bundle < keysPerNode; bundle += partitions) {
      const { key: nodeKey, author } = authorOf(node, 1, bundle + 100, cluster);
      const first = ROWS_PER_RECORD * Math.floor(bundle / partitions);
      const rows = groupIds.slice(first, first + ROWS_PER_RECORD).map(rowOf);
      yield { partition, key: reportRecordKey(nodeKey, bundle), record: { kind: 'report', author, rows } };
    }
  }
  for (let node = 0; node < nodes; node++) yield signOf(node, partition, 1, cluster);
}

function signOf(node: number, partition: number, life: number, cluster: string): Append {
  const { key, author } = authorOf(node, life, 1e6 + partition, cluster);
  const record = { kind: 'node', author, nodeId: `node-${node}`, version: 'bench' } as const;
  return { partition, key: nodeRecordKey(key), record };
}

function authorOf(node: number, life: number, sequence: number, cluster: string) {
  const key = nodeKeyOf(cluster, `node-${node}`);
  return { key, author: { nodeKey: key, incarnation: incarnationOf(life, 1), sequence } };
}

/** Ids of groups that belong to a partition. */
function groupsOn(partition: number, partitions: number, count: number): GroupId[] {
  const groupIds: GroupId[] = [];
  for (let group = 0; groupIds.length < count; group++) {
    const groupId = groupIdOf('scale', `group-${group}`);
    if (partitionOf(groupId, partitions) === partition) groupIds.push(groupId);
  }
  return groupIds;
}

function rowOf(groupId: GroupId): ReportRow {
  const rates = { usageMessages: 1, usageBytes: 1, demandMessages: 1, demandBytes: 1 };
  return {
    groupId,
    ...NOTHING_REPORTED,
    direction: 0,
    ...rates,
    shareMessages: 1,
    shareBytes: 1,
  };
}

function memoryBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
