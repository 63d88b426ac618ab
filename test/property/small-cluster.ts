import type { Append, ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { DIRECTION_COUNT } from '../../src/core/base/vocabulary.js';
import { Limiter, UNCONFIRMED } from '../../src/core/limiter/limiter.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';
import { enforce } from '../../src/core/machine/enforce.js';

/** Members, what they demand, and their shares, of every group: what must not depend on who looks. */
export type View = Readonly<Record<string, Readonly<Record<string, readonly [demand: number, share: number]>>>>;

/** A compacted log that the test holds in its hands. */
export class CompactedLog {
  clockMs = 1e12;
  partitions: ReadEvent[][];
  readonly #nextOffset: number[];

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, () => []);
    this.#nextOffset = new Array<number>(partitions).fill(0);
  }

  append(append: Append): void {
    const offset = this.#nextOffset[append.partition];
    this.#nextOffset[append.partition] = offset + 1;
    this.partitions[append.partition].push({ ...append, offset, appendMs: this.clockMs });
  }

  /** What a newcomer reads after a cleaning: the newest record of every key, its tombstones perhaps gone, too. */
  compacted(withTombstones: boolean): ReadEvent[][] {
    return this.partitions.map((log) => {
      const newest = new Map(log.map((read) => [read.key, read]));
      return log.filter((read) => newest.get(read.key) === read && (withTombstones || read.record !== null));
    });
  }
}

/** A process of a node id, or (without an id) somebody who only reads. */
export class Process {
  readonly coordinator: Coordinator;
  readonly #limiter: Limiter;
  readonly #nextOffset: number[];
  readonly #out: Append[] = [];

  constructor(settings: CoordinatorSettings, history: readonly (readonly ReadEvent[])[], nowMs: number) {
    this.#limiter = new Limiter(settings.groups.length * DIRECTION_COUNT);
    this.coordinator = new Coordinator(settings, this.#limiter);
    this.#nextOffset = history.map(() => 0);
    this.read(history, nowMs);
  }

  join(nowMs: number): void {
    this.#step({ kind: 'caught-up' }, nowMs);
  }

  round(nowMs: number): void {
    this.#step({ kind: 'round-elapsed' }, nowMs);
  }

  stop(nowMs: number): void {
    this.#step({ kind: 'stopping' }, nowMs);
  }

  read(log: readonly (readonly ReadEvent[])[], nowMs: number): void {
    log.forEach((partition, at) => {
      let from = partition.length;
      while (from > 0 && partition[from - 1].offset >= this.#nextOffset[at]) from--;
      const records = partition.slice(from);
      if (records.length === 0) return;
      this.#nextOffset[at] = (records.at(-1) as ReadEvent).offset + 1;
      this.#step({ kind: 'records-read', records }, nowMs);
    });
  }

  take(): Append[] {
    return this.#out.splice(0);
  }

  ask(lane: number, nowMs: number): void {
    if (this.#limiter.tryAcquire(lane, 1, 0, false, nowMs) !== UNCONFIRMED) return;
    if (this.coordinator.isReady && !this.coordinator.lanes.has(lane)) this.#step({ kind: 'lane-served', lane }, nowMs);
  }

  view(): View {
    const { settings, shares, membership } = this.coordinator;
    const ofGroup = ({ name }: { readonly name: string }, group: number) => {
      const round = shares.converge(group, this.coordinator.laneOf(this.coordinator.groupIdOf(group), 0));
      const [demand = [], share = []] = [round.demand[0], round.share[0]];
      const members = membership.alive.map(({ nodeId }, at) => [nodeId, [demand[at], share[at]]]);
      return [name, Object.fromEntries(members)];
    };
    return Object.fromEntries(settings.groups.map(ofGroup));
  }

  #step(event: Parameters<Coordinator['step']>[0], nowMs: number): void {
    const effects = this.coordinator.step(event, nowMs);
    enforce(effects, this.coordinator, this.#limiter, nowMs);
    this.#out.push(...effects.appends);
  }
}
