import { randomInt } from 'node:crypto';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type {
  AllowedLimits,
  GroupConfig,
  KeysConfig,
  KeyTemplate,
  LimitsConfig,
} from '../../../config/resolved/resolved-config.js';
import type { LimitRole } from '../../../config/schema/keys.js';
import { keyNameOf } from '../../../config/setting/key-name.js';
import { clusterDepth } from '../../../core/account/cluster-depth.js';
import { type PublishedKeys, SilentUse } from '../../../core/account/keys/silent-use.js';
import type { Strangers } from '../../../core/account/keys/strangers.js';
import { type UnheardHold, UnheardHolds } from '../../../core/account/keys/unheard-holds.js';
import { Whispers } from '../../../core/account/keys/whispers.js';
import { bitsOf, groupIdOf } from '../../../core/base/ids.js';
import type { UnheardUse } from '../../../core/base/protocol/events-and-effects.js';
import { depthGiven } from '../../../core/base/settings.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  DIRECTIONS,
  KEY_NAME_MAX,
  lanesOf,
  MESSAGES,
  type Rates,
} from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { Coordinator } from '../../../core/machine/coordinator.js';
import type { ServingLoop } from '../../../core/machine/coordinator-view.js';
import type { GroupTable } from '../group-table.js';
import { isSameValue } from '../same-value.js';
import { withLimit } from './key-definition.js';
import { type KeyKind, KeyKinds } from './key-kinds.js';
import { RefusedLimits } from './refused-limits.js';
import { RemoteKeys } from './remote-keys.js';

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
  /** A node that started alone decides with quota / this many; null = the nodes share each quota. */
  readonly dividedBy: () => number | null;
  /** Makes a group of a key, or changes it; returns its number. */
  readonly define: (config: GroupConfig) => number;
  /** Gives the number of a key that nobody uses to another one. */
  readonly rename: (number: number, config: GroupConfig) => void;
  /** There is no such group any more. */
  readonly remove: (group: number) => void;
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
  /** Requests refused by the quota of their key, or by another limit of it. */
  overQuota: number;
  /** Limits that came with requests and were refused. */
  limitsRefused: number;
  /** Requests granted unheard. */
  granted: number;
}

/**
 * The keys of this node: names that stand in no configuration, of which a template says what they are. A key is a row
 * (core/account/keys/whispers.ts) as long as this node spends no more of it than every node may unheard, and nobody speaks of
 * it; else it is a group. It keeps its number, so a key that falls silent and speaks again has its debt; where all
 * numbers are given, one whose key is forgotten is given to another.
 */
export class KeyBook {
  /** By template; those of a template that was removed stay until its last key is forgotten. */
  readonly counts = new Map<string, KeyCounts>();
  readonly #parts: KeyBookParts;
  readonly #kinds: KeyKinds;
  /** By kind. */
  readonly #countsOf: KeyCounts[] = [];
  readonly #whispers: Whispers;
  readonly #holds: UnheardHolds;
  readonly #use: SilentUse;
  readonly #remote: RemoteKeys;
  /** Name → number of the group of every key that has one: those that speak now, and some that did. */
  readonly #numbers = new Map<string, number>();
  #nextNumbered: IterableIterator<[string, number]> = this.#numbers.entries();
  /** Those that speak now. */
  readonly #loud = new Map<string, number>();
  #loudVersion = 0;
  #nextLoud: IterableIterator<[string, number]> = this.#loud.entries();
  /** Names of those that speak and are of another kind than their groups. */
  readonly #behind = new Set<string>();
  #whisperUntilMs = -Infinity;
  readonly #refused = new RefusedLimits();
  #isSound = false;
  /** Patterns of templates. */
  #inForce: ReadonlySet<string> = new Set();
  #nodes = 0;
  #readyMs = Number.NaN;
  #dividedBy: number | null = null;
  readonly #told = new Set<string>();
  #refusalsUntoldUntilMs = -Infinity;

  constructor(parts: KeyBookParts) {
    this.#parts = parts;
    this.#whispers = new Whispers([], parts.keys.maxLive, randomInt(2 ** 32));
    this.#holds = new UnheardHolds(this.#whispers);
    this.#use = new SilentUse(parts.clock());
    this.#remote = new RemoteKeys({
      cluster: parts.cluster,
      max: Math.min(REMOTE_MAX, Math.floor(parts.keys.maxLoud / 10)),
      numberOf: (name) => this.#numberToShow(name),
      isLive: (number) => parts.groups.isLive(number),
    });
    this.#kinds = new KeyKinds(parts.limits, (number, kind) => {
      this.#whispers.setKind(number, kind);
      this.#countsOf[number] = this.#countsFor(kind.template);
    });
    this.use(parts.keys.templates);
  }

  /**
   * Yields name and number of each shown key: first those that are loud here, the longest first, then those of other
   * nodes. A group of the same name goes before a key.
   */
  *shown(): Generator<readonly [string, number]> {
    const { numbers } = this.#parts.groups;
    for (const entry of this.#loud) if (!numbers.has(entry[0])) yield entry;
    for (const entry of this.#remote.numbers) {
      if (!numbers.has(entry[0]) && !this.#loud.has(entry[0])) yield entry;
    }
  }

  /** Rises with every shown key that comes or goes. */
  get shownVersion(): number {
    return this.#loudVersion + this.#remote.version;
  }

  /** The number of a shown key's group; null = the key is not shown. */
  numberShown(name: string): number | null {
    return this.#loud.get(name) ?? this.#remote.numbers.get(name) ?? null;
  }

  get hasTemplates(): boolean {
    return this.#kinds.hasTemplates;
  }

  /**
   * These templates are in force from now on. A key follows when it is used next, a loud one within some rounds: what
   * was spent of it stays spent. One that is given settings of its own follows at once, because its template is in
   * force as before. One that no template has any more is unknown at once.
   */
  use(templates: readonly KeyTemplate[]): void {
    this.#kinds.use(templates);
    this.#refused.clear();
    for (const [name, kind] of this.#kinds.overrides) {
      const row = this.#find(name);
      if (row !== -1 && this.#whispers.kindOf(row) !== kind) this.#move(row, name, kind, this.#parts.clock());
    }
    for (const [name, number] of this.#remote.numbers) {
      if (this.#numberToShow(name) !== null || this.#loud.has(name)) continue;
      this.#remote.forget(name);
      if (!this.#parts.groups.numbers.has(name)) this.#parts.remove(number);
    }
    for (const { pattern } of templates) this.#countsFor(pattern);
    this.#inForce = new Set(templates.map(({ pattern }) => pattern));
    for (const pattern of [...this.counts.keys()]) this.#dropCounts(pattern);
  }

  /** Templates may come and go for years, and each has its series in the metrics. */
  #dropCounts(template: string): void {
    if (this.counts.get(template)?.live === 0 && !this.#inForce.has(template)) this.counts.delete(template);
  }

  /** Whether a template has such names. */
  isKey(text: string): boolean {
    return this.kindOf(text) !== null;
  }

  /** The row of a key, which its first use makes; −1 where no template has such names. Throws KEYS_FULL. */
  rowOf(text: string, nowMs: number): number {
    const row = this.#find(text);
    if (row === -1) return this.#make(text, nowMs);
    return this.#kinds.isCurrent(this.#whispers.kindOf(row)) ? row : this.#follow(row, text, nowMs);
  }

  /**
   * The key has this limit at this node from now on, until it is told another one, or is forgotten. What the operator
   * has written for this key stands before it. Throws LIMIT_DENIED, LIMIT_INVALID, KEYS_FULL.
   */
  tellLimit(name: string, limit: unknown, nowMs: number): void {
    const row = this.rowOf(name, nowMs);
    if (row === -1) return;
    const number = this.#whispers.kindOf(row);
    const { allowLimits, isOverride, template } = this.#kindAt(row);
    if (allowLimits === null) throw this.limitDenied(name, `template ${template} allows none`);
    if (isOverride) return;
    const limited = this.#limited(name, number, limit, allowLimits.quota);
    if (limited === null) throw this.#full(number, name, 'maxLimits');
    if (limited !== number) this.#move(row, keyNameOf(name), limited, nowMs);
  }

  /** The kind of a key of kind `now` with this limit; null = there is no room for one more. */
  #limited(key: string, now: number, limit: unknown, highest: AllowedLimits['quota']): number | null {
    const base = this.#kinds.baseOf(now);
    try {
      const text = textOf(limit, key);
      this.#refused.throwAgain(base, text, key);
      return this.#kinds.limited(now, text, this.#parts.keys.maxLimits, (settings) => {
        return this.#refused.noted(base, text, () => withLimit(settings, limit, highest, key));
      });
    } catch (error) {
      if (error instanceof QuotameshError) this.#countRefused(key, error);
      throw error;
    }
  }

  /** Counts the refusal, and returns the error for whoever has asked. */
  limitDenied(key: string, reason: string): QuotameshError {
    const error = new QuotameshError('LIMIT_DENIED', { key, reason });
    this.#countRefused(key, error);
    return error;
  }

  /** Logs at most one line in a minute: whoever may not tell limits must not fill the log. */
  #countRefused(key: string, { code, message }: QuotameshError): void {
    const { clock, telemetry } = this.#parts;
    const counts = this.#countsOf[this.#kindOf(key)];
    if (counts === undefined) return;
    counts.limitsRefused++;
    if (clock() < this.#refusalsUntoldUntilMs) return;
    this.#refusalsUntoldUntilMs = clock() + REFUSALS_TOLD_EVERY_MS;
    telemetry.log('warn', 'a limit that came with a request is refused', { code, reason: message });
  }

  /** Who may tell limits of such a key; null = nobody, or it is no key. */
  roleForLimits(name: string): LimitRole | null {
    const kind = this.#kinds.all[this.#kindOf(name)];
    return kind?.allowLimits?.role ?? null;
  }

  /** Largest single request of a row's key in a direction. */
  mostOf(row: number, direction: number): Rates {
    return this.#kindAt(row).most[direction];
  }

  /** What a key is now, without making one; null where no template has such names. */
  kindOf(name: string): KeyKind | null {
    const row = this.#find(name);
    const kind = row === -1 ? -1 : this.#whispers.kindOf(row);
    return this.#kinds.all[this.#kinds.isCurrent(kind) ? kind : this.#kindOf(name)] ?? null;
  }

  /** Whether this node decides nothing now, or has slept since it confirmed what may be spent unheard. */
  isAsleep(nowMs: number): boolean {
    return !this.#parts.loop.isReady || (this.#isSound && nowMs > this.#whisperUntilMs);
  }

  /**
   * The number of a group that stands for all keys of a row's template. A node that decides nothing answers in its name:
   * a group for each key that is asked for meanwhile would stay for ever.
   */
  groupOfTemplate(row: number): number {
    return this.#number(this.#kindAt(row).settings);
  }

  /** Whether all that the limits of a row's key decide is refused to nobody. */
  isShadow(row: number): boolean {
    return this.#kindAt(row).settings.mode === 'shadow';
  }

  /** Takes of a row's key what may be spent unheard; false = its group has to decide. */
  tryTake(row: number, name: string, { direction, messages, bytes }: AskedAmounts, nowMs: number): boolean {
    if (!this.#isUnheard(row, nowMs)) return false;
    const whispers = this.#whispers;
    if (this.#holds.size > 0) this.#holds.note(keyNameOf(name), row, nowMs);
    if (!whispers.take(row, direction, messages, bytes, nowMs)) return false;
    this.#use.note(name, direction, messages, bytes);
    this.#countsOf[whispers.kindOf(row)].granted++;
    return true;
  }

  /** The same for work whose cost is known later; null = the key's group has to decide. */
  tryHold(row: number, name: string, asked: AskedAmounts, nowMs: number): UnheardHold | null {
    return this.tryTake(row, name, asked, nowMs) ? this.#holds.hold(keyNameOf(name), row, asked, nowMs) : null;
  }

  /** What was held has been used, but for so much. */
  endHold(hold: UnheardHold, unusedMessages: number, unusedBytes: number, nowMs: number): void {
    this.#holds.end(hold, this.#find(hold.key), [unusedMessages, unusedBytes], nowMs);
  }

  /** Whether `tryTake` would take this now. */
  contains(row: number, { direction, messages, bytes }: AskedAmounts, nowMs: number): boolean {
    return this.#isUnheard(row, nowMs) && this.#whispers.contains(row, direction, messages, bytes, nowMs);
  }

  /** Whether this node may spend of a key unheard, and nobody speaks of it. */
  #isUnheard(row: number, nowMs: number): boolean {
    if (nowMs > this.#whisperUntilMs) return false;
    return this.#strangers()?.has(this.#whispers.bitsOf(row)) !== true;
  }

  /** The number of a key's group, which is made if need be; null = no template has such names. Throws KEYS_FULL. */
  groupOf(text: string): number | null {
    const { clock, loop } = this.#parts;
    const row = this.rowOf(text, clock());
    if (row === -1) return null;
    const name = keyNameOf(text);
    const number = this.#whispers.speaks(row) ? this.#numberOfLoud(name, row) : this.#define(name, row);
    // While the node decides nothing, the row keeps what was spent unheard.
    if (!this.#whispers.speaks(row) && loop.isReady) this.#speak(name, row, number);
    return number;
  }

  /** A group of the key's name uses the key's number. When that group is deleted, the number has to be defined anew. */
  #numberOfLoud(name: string, row: number): number {
    const number = this.#numbers.get(name) as number;
    return this.#parts.groups.isLive(number) ? number : this.#number({ ...this.#kindAt(row).settings, name });
  }

  /** Whether it is a key that is a group like any other now. */
  speaks(name: string): boolean {
    const row = this.#find(name);
    return row !== -1 && this.#whispers.speaks(row);
  }

  /** As `seen`, for a key that was used just now. */
  usedNow(name: string): KeySeen {
    return this.seen(name) ?? this.#unused(name);
  }

  /** What a key is, whether this node uses it or not, without making one; null = no template has such names. */
  known(name: string): KeySeen | null {
    return this.seen(name) ?? (this.#kindOf(name) === -1 ? null : this.#unused(name));
  }

  #unused(text: string): KeySeen {
    const [kind, nowMs] = [this.#kindOf(text), this.#parts.clock()];
    const { template, settings, mayWhisper } = this.#kinds.all[kind] as KeyKind;
    const left = this.#leftWhere(mayWhisper, nowMs, (direction, dimension) => {
      return this.#whispers.leftUnused(kind, direction, dimension, nowMs);
    });
    const remaining = perSlot((direction, dimension) => {
      return this.#whispers.knownUnused(kind, direction, dimension, nowMs);
    });
    return { template, settings, isUsed: false, group: null, left, remaining };
  }

  /** What this node knows of a key without making one; null = it knows none of this name. */
  seen(name: string): KeySeen | null {
    const nowMs = this.#parts.clock();
    const row = this.#find(name) === -1 ? -1 : this.rowOf(name, nowMs);
    if (row === -1) return null;
    const { template, settings, mayWhisper } = this.#kindAt(row);
    if (this.#whispers.speaks(row)) {
      const group = this.#numbers.get(keyNameOf(name)) as number;
      return { template, settings, isUsed: true, group, left: [], remaining: [] };
    }
    const left = this.#leftWhere(mayWhisper, nowMs, (direction, dimension) => {
      return this.#whispers.left(row, direction, dimension, nowMs);
    });
    const remaining = perSlot((direction, dimension) => this.#whispers.known(row, direction, dimension, nowMs));
    return { template, settings, isUsed: true, group: null, left, remaining };
  }

  /** A request for the group of this number was refused; it may be no key's. */
  countOverQuota(group: number): void {
    const { groups } = this.#parts;
    if (this.#numbers.size === 0 || groups.isGroup(group)) return;
    const row = this.#find(groups.at(group).name);
    const counts = row === -1 ? undefined : this.#countsOf[this.#whispers.kindOf(row)];
    if (counts !== undefined) counts.overQuota++;
  }

  /** What this node has spent of silent keys and nobody knows: its last record tells that. */
  lastWords(): UnheardUse[] {
    const nowMs = this.#parts.clock();
    const { cluster } = this.#parts;
    return this.#whispers.spentMost(TOLD_PART, TOLD_MAX, nowMs).flatMap(({ name, units }) => {
      const { settings } = this.#kindAt(this.#find(name));
      return DIRECTIONS.flatMap((_, direction): UnheardUse[] => {
        const at = direction * DIMENSION_COUNT;
        const [messages, bytes] = units.slice(at, at + DIMENSION_COUNT) as [number, number];
        if (messages <= 0 && bytes <= 0) return [];
        const buckets = bucketsOf(settings, direction);
        return [{ groupId: groupIdOf(cluster, name), direction, units: [messages, bytes], buckets }];
      });
    });
  }

  /** Called every round: confirms what may be spent unheard, and looks at some keys that may be forgotten. */
  keep(nowMs: number): void {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return;
    if (this.hasTemplates && coordinator.strangers === null) coordinator.makeGroupsByUse(this.#publishedKeys());
    this.#confirm(coordinator, nowMs);
    this.#use.turn(nowMs, (name, perSecond) => this.#heatOf(name, perSecond));
    this.#remote.keep(coordinator);
    for (const kind of this.#whispers.sweep(nowMs, FORGET_AFTER_MS, SWEPT_ROWS)) this.#gone(kind);
    this.#silence(coordinator, nowMs);
    this.#catchUp();
  }

  /** Says what heartbeats publish of keys. */
  #publishedKeys(): PublishedKeys {
    const { keys, groups } = this.#parts;
    if (!keys.publishNames) return { isKey: () => false, speaks: () => false, busiest: [] };
    const use = this.#use;
    return {
      isKey: (group) => !groups.isGroup(group) && !groups.isStandIn(group),
      speaks: (name) => this.speaks(name),
      get busiest() {
        return use.busiest;
      },
    };
  }

  /** Computes the largest part of its quota that a silent key takes; 0 = the key is not silent. */
  #heatOf(name: string, perSecond: Float64Array): number {
    const row = this.#find(name);
    if (row === -1 || this.#whispers.speaks(row)) return 0;
    const { quota } = this.#kindAt(row).settings;
    const parts = Array.from(perSecond, (rate, slot) => {
      const direction = DIRECTIONS[Math.floor(slot / DIMENSION_COUNT)];
      return rate / quota[direction][slot % DIMENSION_COUNT];
    });
    return Math.max(...parts.filter(Number.isFinite));
  }

  #confirm(coordinator: Coordinator, nowMs: number): void {
    const { membership, link, log } = coordinator;
    const isSound = coordinator.strangers !== null && coordinator.isReady && link.isWhole && !log.epochs.isHolding;
    this.#isSound = isSound;
    this.#whisperUntilMs = isSound ? nowMs + this.#parts.shareValidMs : -Infinity;
    this.#divide();
    // Who is in a new log counts when all have spoken in it: what was spent until then came back by the count before.
    const nodes = log.epochs.isHolding ? this.#nodes : Math.max(1, membership.alive.length, this.#dividedBy ?? 1);
    if (nodes !== this.#nodes) this.#whispers.setNodes(nodes, nowMs);
    this.#nodes = nodes;
    const { readyMs, isReady } = coordinator;
    if (!isReady) return;
    if (Number.isNaN(this.#readyMs)) this.#whispers.start(readyMs);
    // While it slept, the nodes that took it for dead shared its part.
    else if (readyMs !== this.#readyMs) this.#whispers.begin(readyMs);
    this.#readyMs = readyMs;
  }

  /** When the topic of a node that started alone has come, groups of keys that speak are whole again. */
  #divide(): void {
    const dividedBy = this.#parts.dividedBy();
    if (dividedBy === this.#dividedBy) return;
    this.#dividedBy = dividedBy;
    for (const name of this.#loud.keys()) this.#behind.add(name);
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
      // A key that speaks is not forgotten.
      const row = this.#find(name);
      const isCurrent = this.#kinds.isCurrent(this.#whispers.kindOf(row));
      if (!isCurrent && this.#follow(row, name, nowMs) === -1) continue;
      // A silent bucket would know nothing of a debt.
      if (lanesOf(number).some((lane) => coordinator.lanes.has(lane) || this.#owes(lane, nowMs))) continue;
      this.#loud.delete(name);
      this.#loudVersion++;
      this.#whispers.fallSilent(row, nowMs);
      this.#countsOf[this.#whispers.kindOf(row)].loud--;
    }
  }

  #owes(lane: number, nowMs: number): boolean {
    const { buckets } = this.#parts.limiter;
    return buckets.debt(lane, MESSAGES, nowMs) > 0 || buckets.debt(lane, BYTES, nowMs) > 0;
  }

  /** Groups of keys that speak become what their keys are. A group takes about 50 µs, so some go in each round. */
  #catchUp(): void {
    let left = CAUGHT_UP;
    for (const name of this.#behind) {
      if (left-- === 0) return;
      this.#behind.delete(name);
      const row = this.#parts.groups.numbers.has(name) ? -1 : this.#find(name);
      if (row !== -1 && this.#whispers.speaks(row)) this.#number({ ...this.#kindAt(row).settings, name });
    }
  }

  /** The kind of this key is another now, or gone: then so is the key. Returns the row, or −1. */
  #follow(row: number, text: string, nowMs: number): number {
    const kind = this.#kindOf(text);
    const name = keyNameOf(text);
    if (kind === -1) this.#quiet(row, name, nowMs);
    else this.#move(row, name, kind, nowMs);
    return kind === -1 ? -1 : row;
  }

  #move(row: number, name: string, kind: number, nowMs: number): void {
    const before = this.#whispers.kindOf(row);
    const speaks = this.#whispers.speaks(row);
    this.#whispers.move(row, kind, nowMs);
    this.#kinds.hold(kind);
    this.#kinds.release(before);
    if (speaks) this.#behind.add(name);
    const [from, to] = [this.#countsOf[before], this.#countsOf[kind]];
    from.live--;
    to.live++;
    if (speaks) from.loud--;
    if (speaks) to.loud++;
  }

  /**
   * No template has this key any more. Its row stays until it is forgotten as others are: else a template that is
   * removed and put back would give each of its keys another bucket.
   */
  #quiet(row: number, name: string, nowMs: number): void {
    if (!this.#whispers.speaks(row)) return;
    this.#loud.delete(name);
    this.#loudVersion++;
    this.#whispers.fallSilent(row, nowMs);
    this.#countsOf[this.#whispers.kindOf(row)].loud--;
    if (!this.#parts.groups.numbers.has(name)) this.#parts.remove(this.#numbers.get(name) as number);
  }

  #kindAt(row: number): KeyKind {
    return this.#kinds.all[this.#whispers.kindOf(row)] as KeyKind;
  }

  #countsFor(template: string): KeyCounts {
    const known = this.counts.get(template);
    if (known !== undefined) return known;
    const counts = { live: 0, loud: 0, made: 0, forgotten: 0, refused: 0, overQuota: 0, limitsRefused: 0, granted: 0 };
    this.counts.set(template, counts);
    return counts;
  }

  #strangers(): Strangers | null {
    return this.#parts.loop.coordinator?.strangers ?? null;
  }

  /** The row, or −1. Callers may give what is no text. */
  #find(text: string): number {
    if (typeof text !== 'string') return -1;
    const row = text.length <= KEY_NAME_MAX ? this.#whispers.find(text) : -1;
    if (row !== -1) return row;
    const name = keyNameOf(text);
    return name === text ? -1 : this.#whispers.find(name);
  }

  #kindOf(text: string): number {
    return typeof text === 'string' ? this.#kinds.of(keyNameOf(text), text) : -1;
  }

  /** Returns the row, or −1 where no template has such names. Throws KEYS_FULL. */
  #make(text: string, nowMs: number): number {
    const kind = this.#kindOf(text);
    if (kind === -1) return -1;
    const name = keyNameOf(text);
    const { keys, cluster } = this.#parts;
    if (this.#whispers.size >= keys.maxLive) {
      const gone = this.#whispers.makeRoom(nowMs);
      if (gone === -1) throw this.#full(kind, name, 'maxLive');
      this.#gone(gone);
    }
    const counts = this.#countsOf[kind];
    counts.made++;
    counts.live++;
    this.#kinds.hold(kind);
    return this.#whispers.add(name, kind, bitsOf(groupIdOf(cluster, name)), nowMs);
  }

  #gone(kind: number): void {
    const counts = this.#countsOf[kind];
    counts.forgotten++;
    counts.live--;
    this.#dropCounts((this.#kinds.all[kind] as KeyKind).template);
    this.#kinds.release(kind);
  }

  #define(name: string, row: number): number {
    const number = this.#place({ ...this.#kindAt(row).settings, name }, false);
    if (number === null) throw this.#full(this.#whispers.kindOf(row), name, 'maxLoud');
    return number;
  }

  /** Finds a number for a key that other nodes name; null = no template has it, or no room is left. */
  #numberToShow(name: string): number | null {
    const row = this.#find(name);
    const kind = this.#kinds.all[row === -1 ? this.#kindOf(name) : this.#whispers.kindOf(row)];
    const { groups } = this.#parts;
    if (kind == null || keyNameOf(name) !== name || groups.numbers.has(name)) return null;
    if (groups.collisionOf(name) !== null) return null;
    // Names come and go, and their numbers stay.
    const isFrugal = this.#numbers.size > this.#loud.size + this.#remote.numbers.size;
    return this.#place({ ...kind.settings, name }, isFrugal);
  }

  /**
   * Finds a number for a key's group: its own, a new one, or that of a key of which nothing is left; null = there is
   * none.
   * @param isFrugal a new number is the last choice
   */
  #place(config: GroupConfig, isFrugal: boolean): number | null {
    const hasRoom = this.#numbers.size < this.#parts.keys.maxLoud;
    if (this.#numbers.has(config.name) || (hasRoom && !isFrugal)) return this.#number(config);
    const number = this.#unusedNumber();
    if (number === null) return hasRoom ? this.#number(config) : null;
    this.#parts.rename(number, config);
    this.#numbers.set(config.name, number);
    return number;
  }

  /** Takes the number of a key of which nothing is left to remember; null = the next ones are all in use. */
  #unusedNumber(): number | null {
    for (let looked = Math.min(NUMBERS_LOOKED_AT, this.#numbers.size); looked > 0; looked--) {
      let next = this.#nextNumbered.next();
      if (next.done === true) {
        this.#nextNumbered = this.#numbers.entries();
        next = this.#nextNumbered.next();
      }
      const [name, number] = next.value as [string, number];
      if (!this.#isUnused(name, number)) continue;
      this.#numbers.delete(name);
      return number;
    }
    return null;
  }

  /**
   * Reservations, batches and waiting requests name lanes by number, so none of them may be open. Keys that are loud
   * from their first use on keep their numbers: they may have limits per topic and client, which are found by number.
   */
  #isUnused(name: string, number: number): boolean {
    const { groups, limiter, loop } = this.#parts;
    if (!this.#kinds.mayWhisper(groups.at(number)) || this.#find(name) !== -1) return false;
    if (this.#remote.numbers.has(name)) return false;
    if (groups.isGroup(number) || lanesOf(number).some((lane) => !limiter.isAtRest(lane))) return false;
    return loop.coordinator?.isForgotten(number) === true;
  }

  /** The number of a key's group, which is like this from now on. */
  #number(config: GroupConfig): number {
    const known = this.#numbers.get(config.name);
    const { groups } = this.#parts;
    if (known !== undefined && groups.isLive(known) && isSameValue(groups.at(known), config)) return known;
    const number = this.#parts.define(config);
    this.#numbers.set(config.name, number);
    return number;
  }

  /** The key is a group from now on, which begins with what was spent of it unheard. */
  #speak(name: string, row: number, number: number): void {
    const { limiter, loop, groups, clock } = this.#parts;
    const whispers = this.#whispers;
    const nowMs = clock();
    // A limiter counts whole units.
    const spent = Array.from({ length: DIRECTION_COUNT }, (_, direction) => [
      Math.ceil(whispers.spent(row, direction, MESSAGES, nowMs)),
      Math.ceil(whispers.spent(row, direction, BYTES, nowMs)),
    ]);
    whispers.speak(row);
    this.#loud.set(name, number);
    this.#loudVersion++;
    this.#countsOf[whispers.kindOf(row)].loud++;
    lanesOf(number).forEach((lane, direction) => {
      const [messages, bytes] = spent[direction] as [number, number];
      if (messages === 0 && bytes === 0) return;
      loop.serve(lane);
      // A group of a node that started alone has a bucket of some milliseconds, and would owe most of a silent key's.
      const most = (dimension: number) => {
        return this.#dividedBy === null ? Infinity : Math.max(0, Math.floor(limiter.available(lane, dimension, nowMs)));
      };
      const charged = [Math.min(messages, most(MESSAGES)), Math.min(bytes, most(BYTES))] as const;
      limiter.chargeUnheard(lane, ...charged, groups.ofLane(lane).debtMs, nowMs);
      loop.unheardCharged(lane);
    });
  }

  /** Per direction; nothing is left where nothing may be spent unheard now. */
  #leftWhere(mayWhisper: boolean, nowMs: number, left: (direction: number, dimension: number) => number): Units {
    const isOpen = mayWhisper && nowMs <= this.#whisperUntilMs;
    return perSlot((direction, dimension) => {
      const units = left(direction, dimension);
      return isOpen || units === Infinity ? units : 0;
    });
  }

  #full(kind: number, key: string, bound: 'maxLive' | 'maxLoud' | 'maxLimits'): QuotameshError {
    this.#countsOf[kind].refused++;
    const max = this.#parts.keys[bound];
    if (!this.#told.has(bound))
      this.#parts.telemetry.log('warn', 'there is no room for more keys', { bound, max, key });
    this.#told.add(bound);
    return new QuotameshError('KEYS_FULL', { key, bound, max });
  }
}

/** '' for what JSON cannot say, which is no limit either. Throws LIMIT_INVALID. */
function textOf(limit: unknown, key: string): string {
  const text = jsonOf(limit);
  if (text.length <= LIMIT_TEXT_MAX) return text;
  const details = `must have at most ${LIMIT_TEXT_MAX} characters as JSON, has ${text.length}.`;
  throw new QuotameshError('LIMIT_INVALID', { key, details });
}

function jsonOf(limit: unknown): string {
  try {
    return JSON.stringify(limit) ?? '';
  } catch {
    return '';
  }
}

export interface AskedAmounts {
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface KeySeen {
  readonly template: string;
  readonly settings: GroupConfig;
  /** False: this node has no row of it. */
  readonly isUsed: boolean;
  /** The number of its group; null while the key is silent here. */
  readonly group: number | null;
  /** While the key is silent: units that this node may still spend unheard. */
  readonly left: Units;
  /** While the key is silent: units that the cluster's bucket holds, as far as this node knows. */
  readonly remaining: Units;
}

/** Per direction. */
type Units = readonly (readonly [messages: number, bytes: number])[];

function perSlot(unitsOf: (direction: number, dimension: number) => number): Units {
  return [0, 1].map((direction) => [unitsOf(direction, MESSAGES), unitsOf(direction, BYTES)] as const);
}

/** Less than this part of what a node may spend of a key unheard is not told. */
const TOLD_PART = 0.25;
/** 2 MB of rows; the others are told nothing of what more keys have spent. */
const TOLD_MAX = 20_000;

function bucketsOf({ quota, burst }: GroupConfig, direction: number): UnheardUse['buckets'] {
  const [messages, bytes] = quota[DIRECTIONS[direction]].map((perSecond, dimension) => {
    if (perSecond === Infinity || perSecond === 0) return null;
    return { perSecond, depth: depthGiven(burst, direction, dimension) ?? clusterDepth(perSecond, 1) };
  });
  return [messages ?? null, bytes ?? null];
}

/** A key that comes again within this time is found as it was. */
const FORGET_AFTER_MS = 10_000;
/** Rows looked at per round: about 20 µs. A million keys are gone through in 20 s. */
const SWEPT_ROWS = 1024;
const SILENCED_LOOKS = 64;
const REFUSALS_TOLD_EVERY_MS = 60_000;
/** All rates of both directions in their longest words have 360. A limit in use is kept with its text. */
const LIMIT_TEXT_MAX = 500;
const NUMBERS_LOOKED_AT = 64;
/** Keys of other nodes that are shown. Each takes what a loud key takes (keys.maxLoud). */
const REMOTE_MAX = 500;
/** 3 ms of a round. */
const CAUGHT_UP = 64;
