import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { GroupConfig, KeysConfig, KeyTemplate, LimitsConfig } from '../../../config/resolved/resolved-config.js';
import type { LimitRole } from '../../../config/schema/keys.js';
import { keyNameOf } from '../../../config/setting/key-name.js';
import { clusterDepth } from '../../../core/account/cluster-depth.js';
import { type PublishedKeys, SilentUse } from '../../../core/account/keys/silent-use.js';
import { type UnpublishedHold, UnpublishedHolds } from '../../../core/account/keys/unpublished-holds.js';
import { UnpublishedKeys } from '../../../core/account/keys/unpublished-keys.js';
import { KEY_NAME_MAX } from '../../../core/base/constants.js';
import { bitsOf, groupIdOf } from '../../../core/base/ids.js';
import type { UnpublishedUse } from '../../../core/base/protocol/events-and-effects.js';
import { depthGiven } from '../../../core/base/settings.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTIONS,
  lanesOf,
  MESSAGES,
  type Rates,
  slotOf,
} from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { Coordinator } from '../../../core/machine/coordinator.js';
import type { ServingLoop } from '../../../core/machine/coordinator-view.js';
import type { TemplateStatus } from '../../api/node-status.js';
import type { GroupTable } from '../group-table.js';
import { type KeyKind, KeyKinds } from './key-kinds.js';
import { KeyNumbers } from './key-numbers.js';
import { RemoteKeys } from './remote-keys.js';
import { RequestLimits } from './request-limits.js';

export interface KeyBookParts {
  readonly cluster: string;
  readonly keys: KeysConfig;
  readonly limits: LimitsConfig;
  readonly shareValidMs: number;
  /** Nobody else may know it: who does can choose names that collide. */
  readonly hashSeed: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly groups: GroupTable;
  readonly limiter: Limiter;
  readonly loop: ServingLoop;
  /** Divisor of a node that started alone; null = the nodes share each quota. */
  readonly dividedBy: () => number | null;
  /** Makes or changes a key's group; returns its number. */
  readonly define: (config: GroupConfig) => number;
  /** Gives an unused key's number to another. */
  readonly rename: (number: number, config: GroupConfig) => void;
  /** Removes a key's group. */
  readonly remove: (group: number) => void;
}

/** Counts of one template's keys since the start; `granted`: unpublished. */
export type KeyCounts = Record<Exclude<keyof TemplateStatus, 'template'>, number>;

/**
 * Keeps the keys of this node: names that a template describes. A key is a row (core/account/keys/unpublished-keys.ts)
 * while this node spends no more of it than every node may unpublished, and nobody publishes it; else it is a group. It
 * keeps its number, and so its debt; when numbers run out, a forgotten key's is reused.
 */
export class KeyBook {
  /** By template; a removed template's stay until its last key is forgotten. */
  readonly counts = new Map<string, KeyCounts>();
  readonly #parts: KeyBookParts;
  readonly #kinds: KeyKinds;
  readonly #limits: RequestLimits;
  /** By kind. */
  readonly #countsOf: KeyCounts[] = [];
  readonly #unpublished: UnpublishedKeys;
  readonly #holds: UnpublishedHolds;
  readonly #use: SilentUse;
  readonly #remote: RemoteKeys;
  readonly #numbers: KeyNumbers;
  readonly #loud = new Map<string, number>();
  #loudVersion = 0;
  #nextLoud: IterableIterator<[string, number]> = this.#loud.entries();
  /** Loud keys whose kind is no longer their group's. */
  readonly #behind = new Set<string>();
  #unpublishedUntilMs = -Infinity;
  #isSound = false;
  #inForce: ReadonlySet<string> = new Set();
  #nodes = 0;
  #readyMs = Number.NaN;
  #dividedBy: number | null = null;
  readonly #told = new Set<string>();

  constructor(parts: KeyBookParts) {
    this.#parts = parts;
    this.#unpublished = new UnpublishedKeys([], parts.keys.maxLive, parts.hashSeed);
    this.#holds = new UnpublishedHolds(this.#unpublished);
    this.#use = new SilentUse(parts.clock());
    this.#remote = new RemoteKeys({
      cluster: parts.cluster,
      max: Math.min(REMOTE_MAX, Math.floor(parts.keys.maxLoud / 10)),
      numberOf: (name) => this.#numberToShow(name),
      isLive: (number) => parts.groups.isLive(number),
    });
    const { groups, limiter, loop, define, rename } = parts;
    this.#numbers = new KeyNumbers({
      groups,
      limiter,
      loop,
      define,
      rename,
      max: parts.keys.maxLoud,
      // Loud from its first use on, a key may have limits per topic and client, which are found by number.
      isKnown: (name, config) => {
        return !this.#kinds.mayStayUnpublished(config) || this.#find(name) !== -1 || this.#remote.numbers.has(name);
      },
    });
    this.#kinds = new KeyKinds(parts.limits, (number, kind) => {
      this.#unpublished.setKind(number, kind);
      this.#countsOf[number] = this.#countsFor(kind.template);
    });
    this.#limits = new RequestLimits({
      clock: parts.clock,
      telemetry: parts.telemetry,
      kinds: this.#kinds,
      max: parts.keys.maxLimits,
      onRefused: (kind) => this.#countsOf[kind].limitsRefused++,
    });
    this.use(parts.keys.templates);
  }

  /** Yields shown keys with numbers: loud ones here, longest first, then other nodes'. */
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

  /** Returns a shown key's number; null = not shown. */
  numberShown(name: string): number | null {
    return this.#loud.get(name) ?? this.#remote.numbers.get(name) ?? null;
  }

  get hasTemplates(): boolean {
    return this.#kinds.hasTemplates;
  }

  /**
   * Puts templates in force. A key follows at its next use, a loud one within some rounds, one with own settings at
   * once; what was spent stays spent. Without a template a key is unknown at once.
   */
  use(templates: readonly KeyTemplate[]): void {
    this.#kinds.use(templates);
    this.#limits.forgetRefused();
    for (const [name, kind] of this.#kinds.overrides) {
      const row = this.#find(name);
      if (row !== -1 && this.#unpublished.kindOf(row) !== kind) this.#move(row, name, kind, this.#parts.clock());
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

  /** Drops a template's counts: they would be series in metrics for years. */
  #dropCounts(template: string): void {
    if (this.counts.get(template)?.live === 0 && !this.#inForce.has(template)) this.counts.delete(template);
  }

  /** Tests if a template has such names. */
  isKey(text: string): boolean {
    return this.kindOf(text) !== null;
  }

  /** Returns a key's row, made by its first use; −1 = no template. Throws KEYS_FULL. */
  rowOf(text: string, nowMs: number): number {
    const row = this.#find(text);
    if (row === -1) return this.#make(text, nowMs);
    return this.#kinds.isCurrent(this.#unpublished.kindOf(row)) ? row : this.#follow(row, text, nowMs);
  }

  /**
   * Limits a key at this node, until another limit comes. It ends when the key is forgotten; the operator's settings go
   * before. Throws LIMIT_DENIED, LIMIT_INVALID, KEYS_FULL.
   */
  tellLimit(name: string, limit: unknown, nowMs: number): void {
    const row = this.rowOf(name, nowMs);
    if (row === -1) return;
    const number = this.#unpublished.kindOf(row);
    const { allowLimits, isOverride, template } = this.#kindAt(row);
    if (allowLimits === null) throw this.limitDenied(name, `template ${template} allows none`);
    if (isOverride) return;
    const limited = this.#limits.kindOf(name, number, limit, allowLimits.quota);
    if (limited === null) throw this.#full(number, name, 'maxLimits');
    if (limited !== number) this.#move(row, keyNameOf(name), limited, nowMs);
  }

  /** Refuses a limit that a caller may not give. */
  limitDenied(key: string, reason: string): QuotameshError {
    return this.#limits.denied(this.#kindOf(key), key, reason);
  }

  /** Returns the role that may limit such a key; null = nobody, or no key. */
  roleForLimits(name: string): LimitRole | null {
    const kind = this.#kinds.all[this.#kindOf(name)];
    return kind?.allowLimits?.role ?? null;
  }

  /** Returns the largest request of a row's key in a direction. */
  mostOf(row: number, direction: number): Rates {
    return this.#kindAt(row).most[direction];
  }

  /** Returns a key's kind without making one; null = no template. */
  kindOf(name: string): KeyKind | null {
    const row = this.#find(name);
    const kind = row === -1 ? -1 : this.#unpublished.kindOf(row);
    return this.#kinds.all[this.#kinds.isCurrent(kind) ? kind : this.#kindOf(name)] ?? null;
  }

  /** True = not ready, or asleep since it last confirmed unpublished spending. */
  isAsleep(nowMs: number): boolean {
    return !this.#parts.loop.isReady || (this.#isSound && nowMs > this.#unpublishedUntilMs);
  }

  /** Returns the number of a template's group: an unready node answers in its name. */
  groupOfTemplate(row: number): number {
    return this.#numbers.define(this.#kindAt(row).settings);
  }

  /** True = the key's limits refuse nothing. */
  isShadow(row: number): boolean {
    return this.#kindAt(row).settings.mode === 'shadow';
  }

  /** Takes from a row what may be spent unpublished; false = its group decides. */
  tryTake(row: number, name: string, { direction, messages, bytes }: AskedAmounts, nowMs: number): boolean {
    if (!this.#isUnpublished(row, nowMs)) return false;
    const unpublished = this.#unpublished;
    if (this.#holds.size > 0) this.#holds.note(keyNameOf(name), row, nowMs);
    if (!unpublished.take(row, direction, messages, bytes, nowMs)) return false;
    this.#use.note(name, direction, messages, bytes);
    this.#countsOf[unpublished.kindOf(row)].granted++;
    return true;
  }

  /** Takes for work whose cost is known later; null = the key's group decides. */
  tryHold(row: number, name: string, asked: AskedAmounts, nowMs: number): UnpublishedHold | null {
    return this.tryTake(row, name, asked, nowMs) ? this.#holds.hold(keyNameOf(name), row, asked, nowMs) : null;
  }

  /** Settles a hold, less what was unused. */
  endHold(hold: UnpublishedHold, unusedMessages: number, unusedBytes: number, nowMs: number): void {
    const { key, direction, aloud } = hold;
    if (aloud === null) {
      this.#holds.end(hold, this.#find(key), [unusedMessages, unusedBytes], nowMs);
      return;
    }
    const { limiter } = this.#parts;
    const number = this.#numbers.of(key);
    // It stays while something is reserved.
    if (number === undefined) return;
    const lane = lanesOf(number)[direction];
    const used = [Math.max(0, aloud[0] - unusedMessages), Math.max(0, aloud[1] - unusedBytes)] as const;
    limiter.endReserved(lane, ...aloud, ...used);
    limiter.countSettled(lane, ...used);
  }

  /** Tests if `tryTake` would take this now. */
  contains(row: number, { direction, messages, bytes }: AskedAmounts, nowMs: number): boolean {
    return this.#isUnpublished(row, nowMs) && this.#unpublished.contains(row, direction, messages, bytes, nowMs);
  }

  /** Tests if this node may spend a key that nobody publishes. */
  #isUnpublished(row: number, nowMs: number): boolean {
    return nowMs <= this.#unpublishedUntilMs && !this.#isInLog(this.#unpublished.bitsOf(row));
  }

  /** Tests if the log has a group with these bits. */
  #isInLog(bits: number): boolean {
    return this.#parts.loop.coordinator?.remoteGroups?.has(bits) === true;
  }

  /** Returns a key's group, made if need be; null = no template. Throws KEYS_FULL. */
  groupOf(text: string): number | null {
    const { clock, groups } = this.#parts;
    const row = this.rowOf(text, clock());
    if (row === -1) return null;
    const name = keyNameOf(text);
    if (this.#unpublished.isPublished(row)) {
      const known = this.#numbers.of(name) as number;
      const isCurrent = groups.isLive(known) && !this.#behind.delete(name);
      return isCurrent ? known : this.#numbers.define({ ...this.#kindAt(row).settings, name });
    }
    const number = this.#makeLoud(name, row);
    if (number === null) throw this.#full(this.#unpublished.kindOf(row), name, 'maxLoud');
    return number;
  }

  /** Makes a silent key a group; null = there is no room. */
  #makeLoud(name: string, row: number): number | null {
    const number = this.#numbers.place({ ...this.#kindAt(row).settings, name });
    // While the node decides nothing, the row keeps what was spent.
    if (number !== null && this.#parts.loop.isReady) this.#publish(name, row, number);
    return number;
  }

  /** Tests if a key is a group like any other now. */
  isPublished(name: string): boolean {
    const row = this.#find(name);
    return row !== -1 && this.#unpublished.isPublished(row);
  }

  /** Returns `seen` of a key that was just used. */
  usedNow(name: string): KeySeen {
    return this.seen(name) ?? this.#unused(name);
  }

  /** Describes a key, used here or not, without making one; null = no template. */
  known(name: string): KeySeen | null {
    return this.seen(name) ?? (this.#kindOf(name) === -1 ? null : this.#unused(name));
  }

  #unused(text: string): KeySeen {
    const [kind, nowMs] = [this.#kindOf(text), this.#parts.clock()];
    const { template, settings, mayStayUnpublished } = this.#kinds.all[kind] as KeyKind;
    const left = this.#leftWhere(mayStayUnpublished, nowMs, (direction, dimension) => {
      return this.#unpublished.leftUnused(kind, direction, dimension, nowMs);
    });
    const remaining = perSlot((direction, dimension) => {
      return this.#unpublished.knownUnused(kind, direction, dimension, nowMs);
    });
    return { template, settings, isUsed: false, group: null, left, remaining };
  }

  /** Describes a key that this node knows, without making one; null = unknown. */
  seen(name: string): KeySeen | null {
    const nowMs = this.#parts.clock();
    const row = this.#find(name) === -1 ? -1 : this.rowOf(name, nowMs);
    if (row === -1) return null;
    const { template, settings, mayStayUnpublished } = this.#kindAt(row);
    if (this.#unpublished.isPublished(row)) {
      const group = this.#numbers.of(keyNameOf(name)) as number;
      return { template, settings, isUsed: true, group, left: [], remaining: [] };
    }
    const left = this.#leftWhere(mayStayUnpublished, nowMs, (direction, dimension) => {
      return this.#unpublished.left(row, direction, dimension, nowMs);
    });
    const remaining = perSlot((direction, dimension) => this.#unpublished.known(row, direction, dimension, nowMs));
    return { template, settings, isUsed: true, group: null, left, remaining };
  }

  /** Counts a refusal of this group, which may be no key's. */
  countOverQuota(group: number): void {
    const { groups } = this.#parts;
    if (this.#numbers.size === 0 || groups.isGroup(group)) return;
    const row = this.#find(groups.at(group).name);
    const counts = row === -1 ? undefined : this.#countsOf[this.#unpublished.kindOf(row)];
    if (counts !== undefined) counts.overQuota++;
  }

  /** Lists unpublished use of silent keys, for the node's last record. */
  lastWords(): UnpublishedUse[] {
    const nowMs = this.#parts.clock();
    const { cluster } = this.#parts;
    return this.#unpublished.spentMost(PUBLISHED_PART, PUBLISHED_MAX, nowMs).flatMap(({ name, units }) => {
      const { settings } = this.#kindAt(this.#find(name));
      return DIRECTIONS.flatMap((_, direction): UnpublishedUse[] => {
        const at = direction * DIMENSION_COUNT;
        const [messages, bytes] = units.slice(at, at + DIMENSION_COUNT) as [number, number];
        if (messages <= 0 && bytes <= 0) return [];
        const buckets = bucketsOf(settings, direction);
        return [{ groupId: groupIdOf(cluster, name), direction, units: [messages, bytes], buckets }];
      });
    });
  }

  /** Confirms unpublished spending, and looks for keys to forget; every round. */
  keep(nowMs: number): void {
    const { coordinator } = this.#parts.loop;
    if (coordinator === null) return;
    if (this.hasTemplates && coordinator.remoteGroups === null) coordinator.makeGroupsByUse(this.#publishedKeys());
    this.#confirm(coordinator, nowMs);
    this.#use.turn(nowMs, (name, perSecond) => this.#heatOf(name, perSecond));
    this.#remote.keep(coordinator);
    this.#sweep(nowMs);
    this.#silence(coordinator, nowMs);
    this.#catchUp();
  }

  /** Forgets full keys, and publishes those that others publish. */
  #sweep(nowMs: number): void {
    const { forgotten, spent } = this.#unpublished.sweep(nowMs, FORGET_AFTER_MS, SWEPT_ROWS, (bits) => {
      return this.#isInLog(bits);
    });
    for (const kind of forgotten) this.#gone(kind);
    if (!this.#parts.loop.isReady) return;
    for (const name of spent) {
      // Its template may be gone, and the hand may have passed it twice.
      const row = this.rowOf(name, nowMs);
      if (row !== -1 && !this.#unpublished.isPublished(row)) this.#makeLoud(name, row);
    }
  }

  #publishedKeys(): PublishedKeys {
    const { keys, groups } = this.#parts;
    if (!keys.publishNames) return { isKey: () => false, isPublished: () => false, busiest: [] };
    const use = this.#use;
    return {
      isKey: (group) => !groups.isGroup(group) && !groups.isStandIn(group),
      isPublished: (name) => this.isPublished(name),
      get busiest() {
        return use.busiest;
      },
    };
  }

  /** Returns the largest part of a quota that a silent key takes; 0 = not silent. */
  #heatOf(name: string, perSecond: Float64Array): number {
    const row = this.#find(name);
    if (row === -1 || this.#unpublished.isPublished(row)) return 0;
    const { quota } = this.#kindAt(row).settings;
    const parts = Array.from(perSecond, (rate, slot) => {
      const direction = DIRECTIONS[Math.floor(slot / DIMENSION_COUNT)];
      return rate / quota[direction][slot % DIMENSION_COUNT];
    });
    return Math.max(...parts.filter(Number.isFinite));
  }

  #confirm(coordinator: Coordinator, nowMs: number): void {
    const { membership, link, log } = coordinator;
    const isSound = coordinator.remoteGroups !== null && coordinator.isReady && link.isWhole && !log.epochs.isHolding;
    this.#isSound = isSound;
    this.#unpublishedUntilMs = isSound ? nowMs + this.#parts.shareValidMs : -Infinity;
    this.#divide();
    // While an epoch is held, the count before it bounds what was spent.
    const nodes = log.epochs.isHolding ? this.#nodes : Math.max(1, membership.alive.length, this.#dividedBy ?? 1);
    if (nodes !== this.#nodes) this.#unpublished.setNodes(nodes, nowMs);
    this.#nodes = nodes;
    const { readyMs, isReady } = coordinator;
    if (!isReady) return;
    if (Number.isNaN(this.#readyMs)) this.#unpublished.start(readyMs);
    // Nodes that took a sleeping node for dead shared its part.
    else if (readyMs !== this.#readyMs) this.#unpublished.begin(readyMs);
    this.#readyMs = readyMs;
  }

  /** Makes loud keys' groups whole again: a node that started alone has its topic. */
  #divide(): void {
    const dividedBy = this.#parts.dividedBy();
    if (dividedBy === this.#dividedBy) return;
    this.#dividedBy = dividedBy;
    for (const name of this.#loud.keys()) this.#behind.add(name);
  }

  /** Silences keys whose lanes the coordinator has put down. */
  #silence(coordinator: Coordinator, nowMs: number): void {
    for (let looked = Math.min(SILENCED_LOOKS, this.#loud.size); looked > 0; looked--) {
      const next = this.#nextLoud.next();
      if (next.done === true) {
        this.#nextLoud = this.#loud.entries();
        continue;
      }
      const [name, number] = next.value;
      // Loud keys are not forgotten.
      const row = this.#find(name);
      const isCurrent = this.#kinds.isCurrent(this.#unpublished.kindOf(row));
      if (!isCurrent && this.#follow(row, name, nowMs) === -1) continue;
      // A silent bucket would lose a debt.
      if (lanesOf(number).some((lane) => coordinator.lanes.has(lane) || this.#owes(lane, nowMs))) continue;
      this.#fallSilent(row, name, nowMs);
    }
  }

  #fallSilent(row: number, name: string, nowMs: number): void {
    this.#loud.delete(name);
    this.#loudVersion++;
    this.#unpublished.fallSilent(row, nowMs);
    this.#countsOf[this.#unpublished.kindOf(row)].loud--;
  }

  #owes(lane: number, nowMs: number): boolean {
    const { buckets } = this.#parts.limiter;
    return buckets.debt(lane, MESSAGES, nowMs) > 0 || buckets.debt(lane, BYTES, nowMs) > 0;
  }

  /** Updates loud keys' groups to their kinds; some per round, 50 µs each. */
  #catchUp(): void {
    let left = CAUGHT_UP;
    for (const name of this.#behind) {
      if (left-- === 0) return;
      this.#behind.delete(name);
      const row = this.#parts.groups.numbers.has(name) ? -1 : this.#find(name);
      if (row !== -1 && this.#unpublished.isPublished(row))
        this.#numbers.define({ ...this.#kindAt(row).settings, name });
    }
  }

  /** Moves a key to its present kind, or drops it; returns the row, or −1. */
  #follow(row: number, text: string, nowMs: number): number {
    const kind = this.#kindOf(text);
    const name = keyNameOf(text);
    if (kind !== -1) {
      this.#move(row, name, kind, nowMs);
      return row;
    }
    if (this.#unpublished.isPublished(row)) {
      this.#fallSilent(row, name, nowMs);
      if (!this.#parts.groups.numbers.has(name)) this.#parts.remove(this.#numbers.of(name) as number);
    }
    return -1;
  }

  #move(row: number, name: string, kind: number, nowMs: number): void {
    const before = this.#unpublished.kindOf(row);
    const isPublished = this.#unpublished.isPublished(row);
    this.#unpublished.move(row, kind, nowMs);
    this.#kinds.hold(kind);
    this.#kinds.release(before);
    if (isPublished) this.#behind.add(name);
    const [from, to] = [this.#countsOf[before], this.#countsOf[kind]];
    from.live--;
    to.live++;
    if (isPublished) from.loud--;
    if (isPublished) to.loud++;
  }

  #kindAt(row: number): KeyKind {
    return this.#kinds.all[this.#unpublished.kindOf(row)] as KeyKind;
  }

  #countsFor(template: string): KeyCounts {
    const known = this.counts.get(template);
    if (known !== undefined) return known;
    const counts = { live: 0, loud: 0, made: 0, forgotten: 0, refused: 0, overQuota: 0, limitsRefused: 0, granted: 0 };
    this.counts.set(template, counts);
    return counts;
  }

  /** Returns the row, or −1; callers may give what is no text. */
  #find(text: string): number {
    if (typeof text !== 'string') return -1;
    const row = text.length <= KEY_NAME_MAX ? this.#unpublished.find(text) : -1;
    if (row !== -1) return row;
    const name = keyNameOf(text);
    return name === text ? -1 : this.#unpublished.find(name);
  }

  #kindOf(text: string): number {
    return typeof text === 'string' ? this.#kinds.of(keyNameOf(text), text) : -1;
  }

  #make(text: string, nowMs: number): number {
    const kind = this.#kindOf(text);
    if (kind === -1) return -1;
    const name = keyNameOf(text);
    const { keys, cluster } = this.#parts;
    if (this.#unpublished.size >= keys.maxLive) {
      const gone = this.#unpublished.makeRoom(nowMs);
      if (gone === -1) throw this.#full(kind, name, 'maxLive');
      this.#gone(gone);
    }
    const counts = this.#countsOf[kind];
    counts.made++;
    counts.live++;
    this.#kinds.hold(kind);
    return this.#unpublished.add(name, kind, bitsOf(groupIdOf(cluster, name)), nowMs);
  }

  #gone(kind: number): void {
    const counts = this.#countsOf[kind];
    counts.forgotten++;
    counts.live--;
    this.#dropCounts((this.#kinds.all[kind] as KeyKind).template);
    this.#kinds.release(kind);
  }

  /** Returns the number for a key that other nodes name; null = no template, or no room. */
  #numberToShow(name: string): number | null {
    const row = this.#find(name);
    const kind = this.#kinds.all[row === -1 ? this.#kindOf(name) : this.#unpublished.kindOf(row)];
    const { groups } = this.#parts;
    if (kind == null || keyNameOf(name) !== name || groups.numbers.has(name)) return null;
    if (groups.collisionOf(name) !== null) return null;
    // Names come and go, and their numbers stay.
    const isFrugal = this.#numbers.size > this.#loud.size + this.#remote.numbers.size;
    return this.#numbers.place({ ...kind.settings, name }, isFrugal);
  }

  /** Makes a key a group, which begins with its unpublished use. */
  #publish(name: string, row: number, number: number): void {
    const { limiter, loop, groups, clock } = this.#parts;
    const unpublished = this.#unpublished;
    const nowMs = clock();
    // A limiter counts whole units.
    const spent = perSlot((direction, dimension) =>
      Math.ceil(unpublished.spent(row, slotOf(direction, dimension), nowMs)),
    );
    unpublished.publish(row);
    this.#loud.set(name, number);
    this.#loudVersion++;
    this.#countsOf[unpublished.kindOf(row)].loud++;
    const lanes = lanesOf(number);
    const charged = spent.map((units, direction): readonly [number, number] => {
      const lane = lanes[direction];
      if (units[MESSAGES] + units[BYTES] > 0) loop.serve(lane);
      // A bucket of milliseconds, of a node alone or in a new log, would owe most of a silent key's.
      const served = loop.coordinator?.lanes.get(lane);
      const hasGate = this.#dividedBy !== null || (served?.tokens != null && !served.isLimitedByTokens);
      const most = (dimension: number) => {
        return hasGate ? Math.max(0, Math.floor(limiter.available(lane, dimension, nowMs))) : Infinity;
      };
      return [Math.min(units[MESSAGES], most(MESSAGES)), Math.min(units[BYTES], most(BYTES))];
    });
    const held = this.#holds.publish(name, charged);
    lanes.forEach((lane, direction) => {
      const units = charged[direction];
      if (spent[direction][MESSAGES] + spent[direction][BYTES] === 0) return;
      limiter.chargeUnpublished(lane, units, held[direction], groups.ofLane(lane).debtMs, nowMs);
      loop.unpublishedCharged(lane);
    });
  }

  /** Returns units left per direction; none where nothing may be spent unpublished now. */
  #leftWhere(
    mayStayUnpublished: boolean,
    nowMs: number,
    left: (direction: number, dimension: number) => number,
  ): Units {
    const isOpen = mayStayUnpublished && nowMs <= this.#unpublishedUntilMs;
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

export type AskedAmounts = Pick<UnpublishedHold, 'direction' | 'messages' | 'bytes'>;

export interface KeySeen {
  readonly template: string;
  readonly settings: GroupConfig;
  /** False = no row here. */
  readonly isUsed: boolean;
  /** Number of its group; null = silent here. */
  readonly group: number | null;
  /** Units that this node may still spend unpublished, while silent. */
  readonly left: Units;
  /** Units of the cluster's bucket as far as known, while silent. */
  readonly remaining: Units;
}

/** Per direction. */
type Units = readonly (readonly [messages: number, bytes: number])[];

function perSlot(unitsOf: (direction: number, dimension: number) => number): Units {
  return [0, 1].map((direction) => [unitsOf(direction, MESSAGES), unitsOf(direction, BYTES)] as const);
}

/** Part of the allowance above which a key's unpublished use is published. */
const PUBLISHED_PART = 0.25;
/** Keys in the last record: 2 MB of rows; use of more is lost. */
const PUBLISHED_MAX = 20_000;

function bucketsOf({ quota, burst }: GroupConfig, direction: number): UnpublishedUse['buckets'] {
  const [messages, bytes] = quota[DIRECTIONS[direction]].map((perSecond, dimension) => {
    if (perSecond === Infinity || perSecond === 0) return null;
    return { perSecond, depth: depthGiven(burst, direction, dimension) ?? clusterDepth(perSecond, 1) };
  });
  return [messages ?? null, bytes ?? null];
}

/** Milliseconds within which a returning key is as it was. */
const FORGET_AFTER_MS = 10_000;
/** Rows per round: about 20 µs; a million keys take 20 s. */
const SWEPT_ROWS = 1024;
const SILENCED_LOOKS = 64;
/** Other nodes' keys shown; each takes what a loud key does (keys.maxLoud). */
const REMOTE_MAX = 500;
const CAUGHT_UP = 64;
