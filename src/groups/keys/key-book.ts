import { randomInt } from 'node:crypto';
import type { GroupConfig, KeysConfig, LimitsConfig } from '../../config/resolved/resolved-config.js';
import { GROUP_NAME } from '../../config/setting/setting.js';
import { groupIdOf } from '../../core/base/ids.js';
import { BYTES, DIRECTION_COUNT, lanesOf, MESSAGES, type Rates } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/coordinator/coordinator.js';
import type { ServingLoop } from '../../core/coordinator/coordinator-view.js';
import { cellOf, type Strangers } from '../../core/keys/strangers.js';
import { Whispers } from '../../core/keys/whispers.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { GroupTable } from '../group-table.js';
import { type KeyKind, KeyKinds } from './key-kinds.js';

export interface KeyBookParts {
  readonly cluster: string;
  readonly keys: KeysConfig;
  readonly limits: LimitsConfig;
  /** For how long limits are confirmed, ms. */
  readonly shareValidMs: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly groups: GroupTable;
  readonly limiter: Limiter;
  readonly loop: ServingLoop;
  /** Makes a group of a key; returns its number. */
  readonly define: (config: GroupConfig) => number;
}

/** What became of the keys of one template since the start. */
export interface KeyCounts {
  live: number;
  /** Keys that speak now: groups like any other. */
  loud: number;
  made: number;
  forgotten: number;
  /** Requests refused because there was no room for their key. */
  refused: number;
  /** Requests granted unheard. */
  granted: number;
}

/**
 * The keys of this node: names that stand in no configuration, of which a template says what they are. A key is a row
 * (core/keys/whispers.ts) as long as this node spends no more of it than every node may unheard, and nobody speaks of
 * it; else it is a group. A group keeps its number, so a key that falls silent and speaks again has its debt.
 */
export class KeyBook {
  readonly counts: ReadonlyMap<string, KeyCounts>;
  readonly #parts: KeyBookParts;
  readonly #kinds: KeyKinds;
  readonly #countsOf: readonly KeyCounts[];
  readonly #whispers: Whispers;
  /** Name → number of the group of every key that ever spoke. */
  readonly #numbers = new Map<string, number>();
  /** Those that speak now. */
  readonly #loud = new Map<string, number>();
  #nextLoud: IterableIterator<[string, number]> = this.#loud.entries();
  #whisperUntilMs = Number.NEGATIVE_INFINITY;
  #isSound = false;
  #nodes = 0;
  readonly #told = new Set<string>();

  constructor(parts: KeyBookParts) {
    this.#parts = parts;
    this.#kinds = new KeyKinds(parts.keys, parts.limits);
    const counts = new Map<string, KeyCounts>();
    for (const { pattern } of parts.keys.templates) {
      counts.set(pattern, { live: 0, loud: 0, made: 0, forgotten: 0, refused: 0, granted: 0 });
    }
    this.counts = counts;
    this.#countsOf = this.#kinds.all.map(({ template }) => counts.get(template) as KeyCounts);
    this.#whispers = new Whispers(this.#kinds.all, parts.keys.maxLive, randomInt(2 ** 32));
  }

  /** Whether a template has such names. */
  isKey(name: string): boolean {
    return this.#whispers.find(name) !== -1 || this.#kindOf(name) !== -1;
  }

  /** The row of a key, which its first use makes; −1 where no template has such names. Throws KEYS_FULL. */
  rowOf(name: string, nowMs: number): number {
    const row = this.#whispers.find(name);
    return row === -1 ? this.#make(name, nowMs) : row;
  }

  /** Largest single request of a row's key in a direction. */
  mostOf(row: number, direction: number): Rates {
    return this.#kinds.all[this.#whispers.kindOf(row)]?.most[direction] as Rates;
  }

  /** Whether this node decides nothing now, or has slept since it confirmed what may be spent unheard. */
  isAsleep(nowMs: number): boolean {
    return !this.#parts.loop.isReady || (this.#isSound && nowMs > this.#whisperUntilMs);
  }

  /**
   * The number of a group that stands for all keys of a row's template. Answers of a node that decides nothing are told
   * of it: a group for each key that is asked for meanwhile would stay for ever.
   */
  templateOf(row: number): number {
    const { settings } = this.#kinds.all[this.#whispers.kindOf(row)] as KeyKind;
    return this.#numbers.get(settings.name) ?? this.#number(settings);
  }

  /** Takes of a row's key what may be spent unheard; false = its group has to decide. */
  tryTake(row: number, name: string, { direction, messages, bytes }: Asked, nowMs: number): boolean {
    if (nowMs > this.#whisperUntilMs) return false;
    const whispers = this.#whispers;
    const strangers = this.#strangers();
    if (strangers?.mayHold(whispers.cellOf(row)) === true && strangers.has(groupIdOf(this.#parts.cluster, name)))
      return false;
    if (!whispers.take(row, direction, messages, bytes, nowMs)) return false;
    (this.#countsOf[whispers.kindOf(row)] as KeyCounts).granted++;
    return true;
  }

  /** The number of a key's group, which is made if need be; null = no template has such names. Throws KEYS_FULL. */
  groupOf(name: string): number | null {
    const { clock, loop } = this.#parts;
    const row = this.rowOf(name, clock());
    if (row === -1) return null;
    const number = this.#numbers.get(name) ?? this.#define(name, row);
    // While the node decides nothing, the row keeps what was spent unheard.
    if (!this.#whispers.speaks(row) && loop.isReady) this.#speak(name, row, number);
    return number;
  }

  /** Whether it is a key of which nothing is told. */
  isSilent(name: string): boolean {
    const row = this.#whispers.find(name);
    return row !== -1 && !this.#whispers.speaks(row);
  }

  /** What this node knows of a key without making one; null = it knows none of this name. */
  seen(name: string): KeySeen | null {
    const row = this.#whispers.find(name);
    if (row === -1) return null;
    const nowMs = this.#parts.clock();
    const { template, settings } = this.#kinds.all[this.#whispers.kindOf(row)]!;
    const isLoud = this.#whispers.speaks(row);
    const left = isLoud ? [] : [0, 1].map((direction) => this.#leftOf(row, direction, nowMs));
    return { template, settings, group: isLoud ? (this.#numbers.get(name) as number) : null, left };
  }

  /** Called every round: confirms what may be spent unheard, and looks at some keys that may be forgotten. */
  keep(nowMs: number): void {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return;
    this.#confirm(coordinator, nowMs);
    for (const kind of this.#whispers.sweep(nowMs, FORGET_AFTER_MS, SWEPT_ROWS)) this.#gone(kind);
    this.#silence(coordinator, nowMs);
  }

  #confirm(coordinator: Coordinator, nowMs: number): void {
    const { membership, link, log } = coordinator;
    const isSound = coordinator.isReady && link.isWhole && membership.allTellCharges && !log.epochs.isHolding;
    this.#isSound = isSound;
    this.#whisperUntilMs = isSound ? nowMs + this.#parts.shareValidMs : Number.NEGATIVE_INFINITY;
    const nodes = Math.max(1, membership.alive.length);
    if (nodes !== this.#nodes) this.#whispers.setNodes(nodes);
    this.#nodes = nodes;
  }

  /** Keys whose lanes the coordinator has put down are silent again. */
  #silence(coordinator: Coordinator, nowMs: number): void {
    for (let looked = Math.min(SILENCED_LOOKS, this.#loud.size); looked > 0; looked--) {
      const next = this.#nextLoud.next();
      if (next.done === true) {
        this.#nextLoud = this.#loud.entries();
        continue;
      }
      const [name, number] = next.value;
      if (lanesOf(number).some((lane) => coordinator.lanes.has(lane))) continue;
      this.#loud.delete(name);
      // A key that speaks is not forgotten.
      const row = this.#whispers.find(name);
      this.#whispers.fallSilent(row, nowMs);
      (this.#countsOf[this.#whispers.kindOf(row)] as KeyCounts).loud--;
    }
  }

  #strangers(): Strangers | null {
    return this.#parts.loop.coordinator?.strangers ?? null;
  }

  #kindOf(name: string): number {
    if (typeof name !== 'string' || name.length > NAME_MAX || !GROUP_NAME.matches.test(name)) return -1;
    return this.#kinds.of(name);
  }

  /** Returns the row, or −1 where no template has such names. Throws KEYS_FULL. */
  #make(name: string, nowMs: number): number {
    const kind = this.#kindOf(name);
    if (kind === -1) return -1;
    const { keys, cluster, loop } = this.#parts;
    if (this.#whispers.size >= keys.maxLive) {
      const gone = this.#whispers.makeRoom(nowMs);
      if (gone === -1) throw this.#full(kind, name, 'maxLive');
      this.#gone(gone);
    }
    const counts = this.#countsOf[kind] as KeyCounts;
    counts.made++;
    counts.live++;
    return this.#whispers.add(name, kind, cellOf(groupIdOf(cluster, name)), loop.coordinator?.readyMs ?? nowMs);
  }

  #gone(kind: number): void {
    const counts = this.#countsOf[kind] as KeyCounts;
    counts.forgotten++;
    counts.live--;
  }

  #define(name: string, row: number): number {
    const kind = this.#whispers.kindOf(row);
    if (this.#numbers.size >= this.#parts.keys.maxLoud) throw this.#full(kind, name, 'maxLoud');
    return this.#number({ ...this.#kinds.all[kind]!.settings, name });
  }

  #number(config: GroupConfig): number {
    const number = this.#parts.define(config);
    this.#numbers.set(config.name, number);
    return number;
  }

  /** The key is a group from now on, which begins with what was spent of it unheard. */
  #speak(name: string, row: number, number: number): void {
    const { limiter, loop, groups, clock } = this.#parts;
    const whispers = this.#whispers;
    const nowMs = clock();
    const spent = Array.from({ length: DIRECTION_COUNT }, (_, direction) => [
      whispers.spent(row, direction, MESSAGES, nowMs),
      whispers.spent(row, direction, BYTES, nowMs),
    ]);
    whispers.speak(row);
    this.#loud.set(name, number);
    (this.#countsOf[whispers.kindOf(row)] as KeyCounts).loud++;
    lanesOf(number).forEach((lane, direction) => {
      const [messages, bytes] = spent[direction] as [number, number];
      if (messages === 0 && bytes === 0) return;
      loop.serve(lane);
      limiter.consume(lane, messages, bytes, groups.ofLane(lane).debtMs, nowMs);
    });
  }

  #leftOf(row: number, direction: number, nowMs: number): readonly [messages: number, bytes: number] {
    const left = (dimension: number) => this.#whispers.left(row, direction, dimension, nowMs);
    return [left(MESSAGES), left(BYTES)];
  }

  #full(kind: number, key: string, bound: 'maxLive' | 'maxLoud'): QuotameshError {
    (this.#countsOf[kind] as KeyCounts).refused++;
    const max = this.#parts.keys[bound];
    if (!this.#told.has(bound))
      this.#parts.telemetry.log('warn', 'there is no room for more keys', { bound, max, key });
    this.#told.add(bound);
    return new QuotameshError('KEYS_FULL', { key, bound, max });
  }
}

interface Asked {
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface KeySeen {
  readonly template: string;
  readonly settings: GroupConfig;
  /** The number of its group; null while the key is silent here. */
  readonly group: number | null;
  /** Per direction, while the key is silent: units that this node may still spend unheard. */
  readonly left: readonly (readonly [messages: number, bytes: number])[];
}

/** A key that comes again within this time is found as it was. */
const FORGET_AFTER_MS = 10_000;
/** Rows looked at per round: about 20 µs. A million keys are gone through in 20 s. */
const SWEPT_ROWS = 1024;
const SILENCED_LOOKS = 64;
/** As in GROUP_NAME; a name of a megabyte is not searched for letters. */
const NAME_MAX = 200;
