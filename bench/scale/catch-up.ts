/**
 * What a node's event loop pays to read a whole log in turns of 1,000 records, and one restart of a node in it. The records are
 * decoded already: the codec and the adapter have their own figures. All times are CPU time, collecting garbage included.
 */
import { Coordinator } from '../../src/core/coordinator.js';
import type { Append, ReadEvent } from '../../src/core/coordinator-protocol.js';
import { incarnationOf, nodeKeyOf } from '../../src/core/ids.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { nodeRecordKey, type ReportRow, reportRecordKey } from '../../src/core/report/record.js';
import type { CoordinatorSettings } from '../../src/core/settings.js';
import { DIRECTION_COUNT } from '../../src/core/vocabulary.js';

export interface Log {
  readonly nodes: number;
  readonly keysPerNode: number;
  readonly partitions: number;
}

const TURN_RECORDS = 1000;
const ROWS_PER_RECORD = 6;
const MEBI = 1024 * 1024;

export function measureCatchUp(log: Log, core: Omit<CoordinatorSettings, 'nodeId' | 'partitions'>): void {
  const settings = { ...core, nodeId: 'reader', partitions: log.partitions };
  const coordinator = new Coordinator(settings, new Limiter(core.groups.length * DIRECTION_COUNT));
  const reading = new Turns(coordinator, log.partitions);
  const before = memoryBytes();
  for (let partition = 0; partition < log.partitions; partition++) {
    let turn: Append[] = [];
    for (const append of recordsOf(log, partition, settings.cluster)) {
      if (turn.push(append) < TURN_RECORDS) continue;
      reading.read(turn);
      turn = [];
    }
    reading.read(turn);
  }
  const { records, cpuMs, worstMs, slow } = reading;
  const { usageMap } = coordinator;
  console.log(
    `catching up, ${log.nodes} nodes × ${log.keysPerNode} keys on ${log.partitions} partitions: ${records} records in ` +
      `${(cpuMs / 1000).toFixed(2)} s of CPU, ${((1000 * cpuMs) / records).toFixed(1)} µs each; worst turn of ` +
      `${TURN_RECORDS} records ${worstMs.toFixed(1)} ms, ${slow} turns above 20 ms; ${usageMap.steps} look-ups beside; ` +
      `${((memoryBytes() - before) / MEBI).toFixed(0)} MiB for ${usageMap.entryCount} keys and ${usageMap.rows.count} rows`,
  );
  const restart = new Turns(coordinator, log.partitions, reading.nextOffset);
  for (let partition = 0; partition < log.partitions; partition++) {
    restart.read([signOf(0, partition, 2, settings.cluster)]);
  }
  console.log(`  one node starts again: ${restart.cpuMs.toFixed(2)} ms of CPU at every other node`);
}

class Turns {
  records = 0;
  cpuMs = 0;
  worstMs = 0;
  slow = 0;
  readonly nextOffset: number[];
  readonly #coordinator: Coordinator;

  constructor(coordinator: Coordinator, partitions: number, nextOffset = new Array<number>(partitions).fill(0)) {
    this.#coordinator = coordinator;
    this.nextOffset = nextOffset;
  }

  read(appends: readonly Append[]): void {
    const records = appends.map((append) => this.#inLog(append));
    const cpu = process.cpuUsage();
    this.#coordinator.step({ kind: 'records-read', records }, 0);
    const { user, system } = process.cpuUsage(cpu);
    const tookMs = (user + system) / 1000;
    this.cpuMs += tookMs;
    this.worstMs = Math.max(this.worstMs, tookMs);
    if (tookMs > 20) this.slow++;
    this.records += records.length;
  }

  #inLog(append: Append): ReadEvent {
    const offset = this.nextOffset[append.partition] as number;
    this.nextOffset[append.partition] = offset + 1;
    return { ...append, offset, appendMs: 1e12 };
  }
}

/** As compaction leaves it: every key once, node by node, and behind them the newest records, the signs of life. */
function* recordsOf({ nodes, keysPerNode, partitions }: Log, partition: number, cluster: string): Generator<Append> {
  for (let node = 0; node < nodes; node++) {
    for (let bucket = partition; bucket < keysPerNode; bucket += partitions) {
      const { key: nodeKey, author } = authorOf(node, 1, bucket + 100, cluster);
      const rows = Array.from({ length: ROWS_PER_RECORD }, (_, at) => rowOf(bucket * ROWS_PER_RECORD + at));
      yield { partition, key: reportRecordKey(nodeKey, bucket), record: { kind: 'report', author, rows } };
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

function rowOf(group: number): ReportRow {
  const rates = { usageMessages: 1, usageBytes: 1, demandMessages: 1, demandBytes: 1 };
  return { groupId: group * 7919, direction: 0, topics: 0, ...rates, shareMessages: 1, shareBytes: 1 };
}

function memoryBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
