import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { DIRECTION_COUNT, type Direction, directionIndex } from '../../src/core/base/vocabulary.js';
import { STRATEGY_NAMES } from '../../src/core/convergence/strategies.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';
import type { NodeShareStatus, RateStatus } from '../../src/node/api/node-status.js';
import { laneShares } from '../../src/node/status/lane-summary.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import type { Recording } from '../../src/topic/recording/read-recording.js';
import type { RecordingHeader } from '../../src/topic/recording/recording-format.js';
import type { PageRun } from '../page/page-runs.js';
import { chosenGroup } from './chosen-group.js';
import { decoded } from './decoded.js';
import { FoldingSeries } from './folding-series.js';

export interface RecordingReplay {
  readonly runs: readonly PageRun[];
  /** Records read; undecodable ones are left out, as by a node. */
  readonly records: number;
  readonly undecodable: number;
}

export interface RecordingChoice {
  /** Absent = the only one. */
  readonly group?: string | undefined;
  readonly direction: Direction;
}

const SLICE_MS = 100;

/**
 * Computes every strategy's shares from one log. A watching coordinator each does so, every 100 ms of log time. Usage
 * and demand are as reported under the live strategy.
 */
export async function replayRecording(recording: Recording, choice: RecordingChoice): Promise<RecordingReplay> {
  const { header, group } = await chosenGroup(recording, choice.group);
  const codec = new RecordCodec(header.cluster);
  const watchers = STRATEGY_NAMES.map((strategy) => new Watcher(header, group, choice.direction, strategy));
  let records = 0;
  let undecodable = 0;
  for await (const entry of recording.entries) {
    if (entry === 'caught-up') {
      for (const watcher of watchers) watcher.begin();
      continue;
    }
    if ('epoch' in entry) {
      for (const watcher of watchers) watcher.beginEpoch(entry.epoch);
      continue;
    }
    records++;
    const event = decoded(entry, codec);
    if (event === null) undecodable++;
    else for (const watcher of watchers) watcher.read(event);
  }
  return { runs: watchers.map((watcher) => watcher.run()), records, undecodable };
}

class Watcher {
  readonly #name: string;
  readonly #strategy: string;
  readonly #quota: readonly [number, number];
  readonly #coordinator: Coordinator;
  readonly #read: () => readonly NodeShareStatus[];
  readonly #series = new FoldingSeries(0);
  readonly #nodes = new Map<string, number>();
  readonly #happenings: { atMs: number; says: string }[] = [];
  #latest: readonly NodeShareStatus[] = [];
  #beginMs: number | null = null;
  #slices = 0;

  constructor(header: RecordingHeader, group: number, direction: Direction, strategy: string) {
    const settings = settingsOf(header, strategy);
    const { name, quota } = settings.groups[group];
    this.#name = `${header.cluster}, ${name}, ${direction}`;
    this.#strategy = strategy;
    this.#quota = quota[direction];
    this.#coordinator = new Coordinator(settings, new Limiter(settings.groups.length * DIRECTION_COUNT));
    this.#read = () => laneShares(this.#coordinator, group, directionIndex(direction), 0);
  }

  /** Starts from the log before the recording, or made anew. */
  begin(): void {
    if (this.#beginMs !== null) return;
    this.#beginMs = this.#coordinator.log.membershipLogMs;
    this.#latest = this.#read();
  }

  /** Begins another log, whose time starts at 0. */
  beginEpoch(epoch: string): void {
    const { log } = this.#coordinator;
    const beforeMs = log.membershipLogMs;
    this.#coordinator.step({ kind: 'epoch-began', epoch }, 0);
    if (this.#beginMs !== null) this.#beginMs += log.membershipLogMs - beforeMs;
  }

  read(event: ReadEvent): void {
    const records = [withClaim(event, this.#coordinator)];
    const effects = this.#coordinator.step({ kind: 'records-read', records }, 0);
    if (this.#beginMs === null) return;
    const nowMs = this.#coordinator.log.membershipLogMs - this.#beginMs;
    // Shares stay the same until this record.
    while ((this.#slices + 1) * SLICE_MS <= nowMs) this.#sample();
    for (const notice of effects.notices) {
      if (!('nodeId' in notice)) continue;
      const says = `${(nowMs / 1000).toFixed(1)} s ${notice.nodeId} ${notice.kind.replace('member-', '')}`;
      this.#happenings.push({ atMs: nowMs, says });
    }
    this.#latest = this.#read();
  }

  run(): PageRun {
    this.#sample();
    const { sampleMs } = this.#series;
    while (this.#slices * SLICE_MS < this.#series.endMs - sampleMs || this.#slices % (sampleMs / SLICE_MS) !== 0) {
      this.#sample();
    }
    const names = [...this.#nodes.keys()];
    const series = this.#series.series(names, this.#quota);
    return {
      scenario: this.#name,
      seed: 0,
      system: `quotamesh ${this.#strategy}`,
      nodes: names,
      series,
      sampleMs,
      durationMs: (series[0]?.quota.length ?? 0) * sampleMs,
      happenings: this.#happenings,
      verdict: null,
    };
  }

  #sample(): void {
    const part = SLICE_MS / 1000;
    const shares = new Map<number, RateStatus>();
    for (const { nodeId, usage, demand, share } of this.#latest) {
      const node = this.#indexOf(nodeId);
      shares.set(node, share);
      this.#series.count(node, (usage.messagesPerSecond ?? 0) * part, (usage.bytesPerSecond ?? 0) * part, true);
      const [messages, bytes] = [unmet(demand, usage, 'messagesPerSecond'), unmet(demand, usage, 'bytesPerSecond')];
      this.#series.count(node, messages * part, bytes * part, false);
    }
    this.#slices++;
    if (this.#slices * SLICE_MS < this.#series.endMs) return;
    this.#series.end((node, dimension) => limitIn(shares.get(node), dimension));
  }

  #indexOf(nodeId: string): number {
    const known = this.#nodes.get(nodeId);
    if (known !== undefined) return known;
    this.#nodes.set(nodeId, this.#nodes.size);
    this.#series.addNode();
    return this.#nodes.size - 1;
  }
}

/** Gives a watching node the claim of an `equal` pool. It makes none itself. */
function withClaim(event: ReadEvent, { membership }: Coordinator): ReadEvent {
  const { record } = event;
  if (record?.kind !== 'node' || (record.pool ?? 0) > 0) return event;
  const { count } = membership.on(event.partition);
  const isMember = membership.indexOf(record.author.nodeKey, event.partition) !== -1;
  return { ...event, record: { ...record, pool: count + (isMember ? 0 : 1) } };
}

function unmet(demand: RateStatus, usage: RateStatus, key: keyof RateStatus): number {
  return Math.max(0, (demand[key] ?? 0) - (usage[key] ?? 0));
}

function limitIn(share: RateStatus | undefined, dimension: 0 | 1): number {
  if (share === undefined) return 0;
  return (dimension === 0 ? share.messagesPerSecond : share.bytesPerSecond) ?? Infinity;
}

/** Lays recorded settings over this version's defaults. */
export function settingsOf(header: RecordingHeader, strategy: string): CoordinatorSettings {
  const raw = { cluster: header.cluster, topic: 'memory', groups: { any: {} } };
  const defaults = resolveConfig(raw, { source: '(recording)' });
  return {
    ...defaults.timing,
    sampleIntervalMs: defaults.sampleIntervalMs,
    ...header.timing,
    cluster: header.cluster,
    nodeId: '(replay)',
    version: header.version,
    nonce: 0,
    partitions: header.partitions,
    limiting: header.limiting,
    costs: defaults.costs,
    groups: header.groups.map((group) => ({ ...defaults.groups[0], ...group, strategy })),
  };
}
