import { groupIdOf, incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import type { Notice, ReadEvent } from '../../../../src/core/base/protocol/events-and-effects.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  partitionOf,
  type ReportRow,
  reportRecordKey,
  type TopicRecord,
} from '../../../../src/core/base/protocol/record.js';
import { LogReader } from '../../../../src/core/log/reading/log-reader.js';
import { BackendBook } from '../../../../src/core/target/backend-book.js';
import { RampBook } from '../../../../src/core/target/ramp/ramp-book.js';
import { Membership } from '../../../../src/core/usage-map/membership.js';
import { NOBODYS_SLOT } from '../../../../src/core/usage-map/record-store.js';
import { UsageMap } from '../../../../src/core/usage-map/usage-map.js';
import { SETTINGS } from '../../../simulation/settings.js';

export const HEARTBEAT_MS = 1000;
export const STALENESS_MS = 5000;

interface Written {
  readonly life?: number;
  readonly sequence?: number;
  readonly partition?: number;
  readonly bundle?: number;
  readonly afterMs?: number;
}

/** A reader of a log that the test writes record by record. Sequences rise by themselves unless they are given. */
export class Reading {
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly backends: BackendBook;
  /** Holds the ramps of the membership partition. */
  readonly ramps: RampBook;
  readonly log: LogReader;
  readonly notices: Notice[] = [];
  readonly changedLanes: number[] = [];
  /** The reader's own clock. */
  nowMs = 0;
  readonly #clockMs: number[];
  readonly #nextOffset: number[];
  readonly #sequences = new Map<string, number>();

  constructor(partitions = 1) {
    this.membership = new Membership(STALENESS_MS, partitions);
    this.usageMap = new UsageMap((lane) => this.changedLanes.push(lane), { partitions });
    this.backends = new BackendBook('demo', SETTINGS.limiting);
    const settings = {
      partitions,
      heartbeatMs: HEARTBEAT_MS,
      partitionHeartbeatMs: HEARTBEAT_MS,
      stalenessMs: STALENESS_MS,
    };
    const ramps = Array.from({ length: partitions }, () => new RampBook(HEARTBEAT_MS, () => undefined));
    this.ramps = ramps[0]!;
    const told = { backends: this.backends, ramps, notices: this.notices };
    this.log = new LogReader(settings, this.membership, this.usageMap, told);
    this.log.isCaughtUp = true;
    this.#clockMs = new Array<number>(partitions).fill(1e12);
    this.#nextOffset = new Array<number>(partitions).fill(0);
  }

  node(nodeId: string, written: Written = {}): boolean {
    const author = this.#author(nodeId, written);
    return this.#read(nodeRecordKey(author.nodeKey), { kind: 'node', author, nodeId, version: 'test' }, written);
  }

  /** A heartbeat that names keys, and what the node grants of each. */
  names(nodeId: string, rates: Readonly<Record<string, number>>, written: Written = {}): boolean {
    const author = this.#author(nodeId, written);
    const keys = Object.entries(rates).map(([name, messages]) => {
      return { groupId: groupIdOf('demo', name), direction: 0, name, messages, bytes: 0 };
    });
    const record = { kind: 'node', author, nodeId, version: 'test', keys } as const;
    return this.#read(nodeRecordKey(author.nodeKey), record, written);
  }

  farewell(nodeId: string, written: Written = {}): boolean {
    const author = this.#author(nodeId, written);
    return this.#read(nodeRecordKey(author.nodeKey), { kind: 'farewell', author, nodeId }, written);
  }

  report(nodeId: string, rates: Readonly<Record<string, number>>, written: Written = {}): boolean {
    const author = this.#author(nodeId, written);
    const rows = Object.entries(rates).map(([group, rate]) => rowOf(group, rate));
    return this.#read(reportRecordKey(author.nodeKey, written.bundle ?? 0), { kind: 'report', author, rows }, written);
  }

  /** What a node says of something that is not its own. */
  said(
    nodeId: string,
    key: string,
    make: (author: TopicRecord['author']) => TopicRecord,
    written: Written = {},
  ): boolean {
    return this.#read(key, make(this.#author(nodeId, written)), written);
  }

  tombstone(key: string, written: Written = {}): boolean {
    return this.#read(key, null, written);
  }

  raw(event: ReadEvent): boolean {
    return this.log.apply(event, this.nowMs);
  }

  get alive(): string[] {
    return this.membership.alive.map(({ nodeId }) => nodeId).sort();
  }

  /** Node → demand of a group, of all rows that are not of a past life, whether their nodes are alive or not. */
  rowsOf(group: string): Record<string, number> {
    const { rows } = this.usageMap;
    const found: Record<string, number> = {};
    const lane = this.usageMap.mapLaneOf(groupIdOf('demo', group), 0);
    for (let row = this.usageMap.firstRow(lane); row !== -1; row = rows.nextOf(row)) {
      if (rows.memberOf(row) === NOBODYS_SLOT) continue;
      const { nodeId } = this.membership.inSlot(rows.memberOf(row));
      found[nodeId] = rows.pageOf(row).demandOf(rows.startOf(row), 0);
    }
    return found;
  }

  #author(nodeId: string, { life = 1, sequence }: Written): TopicRecord['author'] {
    const next = sequence ?? (this.#sequences.get(`${nodeId}/${life}`) ?? 0) + 1;
    this.#sequences.set(`${nodeId}/${life}`, next);
    return { nodeKey: nodeKeyOf('demo', nodeId), incarnation: incarnationOf(life, 9), sequence: next };
  }

  #read(key: string, record: TopicRecord | null, { partition = 0, afterMs = 0 }: Written): boolean {
    const offset = this.#nextOffset[partition];
    this.#nextOffset[partition] = offset + 1;
    this.#clockMs[partition] = this.#clockMs[partition] + afterMs;
    return this.raw({ partition, offset, appendMs: this.#clockMs[partition], key, record });
  }
}

function rowOf(group: string, rate: number): ReportRow {
  const groupId = groupIdOf('demo', group);
  return { ...NOTHING_REPORTED, groupId, direction: 0, usageMessages: rate, demandMessages: rate };
}

/** Names of groups that belong to a partition. */
export function groupsOn(partition: number, partitions: number, count: number): string[] {
  const names: string[] = [];
  for (let at = 0; names.length < count; at++) {
    if (partitionOf(groupIdOf('demo', `g${at}`), partitions) === partition) names.push(`g${at}`);
  }
  return names;
}

export function nodeKeyText(nodeId: string): string {
  return nodeRecordKey(nodeKeyOf('demo', nodeId));
}

export function bundleKeyText(nodeId: string, bundle = 0): string {
  return reportRecordKey(nodeKeyOf('demo', nodeId), bundle);
}
