import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { KafkaQuotasConfig, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { KafkaQuotaEntity } from '../../config/schema/kafka-quota-entities.js';
import {
  DEFAULT_NAME,
  type Entity,
  entityKeyOf,
  MARKER_NAME,
  QUOTA_NAMES,
  type QuotaName,
} from '../../core/beside/kafka-quotas/entity.js';
import { Keeper } from '../../core/beside/kafka-quotas/keeper.js';
import type {
  Alteration,
  AlterFailure,
  DescribedQuota,
  KeeperEffect,
  KeeperEvent,
  Marker,
} from '../../core/beside/kafka-quotas/keeper-events.js';
import type { KeptRecord } from '../../core/beside/kafka-quotas/keeper-record.js';
import type { GroupTable } from '../../node/groups/group-table.js';
import type { KeyTemplates } from '../../node/groups/keys/key-templates.js';
import type { QuotaWindow } from '../../topic/kafka/client-quota-admin.js';
import type { DescribedEntity, EntityChange } from '../../topic/kafka/client-quotas-1.js';
import { bytesOf, changesOf, describedQuotas, entityOfParts, type GroupBytes, quotasOf } from './entity-parts.js';
import { readExporter } from './exporter-page.js';
import { decodeKeeperRecord, encodeKeeperRecord } from './keeper-record-codec.js';
import { type KeeperStatus, keeperStatus } from './keeper-status.js';
import { isOfPattern, limitSpecs, type SpecsInput } from './limit-specs.js';
import { roughnessOf, troubleOfConsumers } from './window-roughness.js';

/** Reads and writes quotas; `ClientQuotaAdmin` on a real Kafka. */
export interface QuotaAdmin {
  describe(): Promise<readonly DescribedEntity[]>;
  alter(changes: readonly EntityChange[], mayStill: () => boolean): Promise<readonly RefusedEntity[]>;
  windows(): Promise<readonly QuotaWindow[]>;
  close(): Promise<void>;
}

interface RefusedEntity {
  readonly entity: DescribedEntity['entity'];
  readonly reason: string;
}

interface QuotaKeeperParts {
  readonly config: ResolvedConfig;
  /** Topic of one partition, for keepers alone. */
  readonly topic: ReportTopic;
  readonly admin: QuotaAdmin;
  readonly groups: Pick<GroupTable, 'numbers' | 'at'>;
  readonly templates: Pick<KeyTemplates, 'settingsOf'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** True = takes over the values that Kafka has at first. */
  readonly adopts: boolean;
}

const ROUND_EVERY_MS = 1000;
/** Milliseconds between beats, apart from rounds: an exporter that hangs outlasts the permission. */
const BEAT_EVERY_MS = 1000;
/** Milliseconds that a writer goes on without reading its own record. A new one waits as long. */
const PERMIT_MS = 2000;
const FAREWELL_TIMEOUT_MS = 1000;

/** Drives the keeper: looks at brokers and at Kafka's quotas once a second, and follows the log. */
export class QuotaKeeper {
  readonly #parts: QuotaKeeperParts;
  readonly #keeper: Keeper;
  readonly #settings: KafkaQuotasConfig;
  readonly #told = new Set<string>();
  /** Groups in shadow mode, of this round's. */
  readonly #shadows = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #wake: NodeJS.Timeout | undefined;
  #beats: NodeJS.Timeout | undefined;
  #readTo = -1;
  #isClosed = false;
  #appending: Promise<unknown> = Promise.resolve();
  #describeProblem: string | null = null;
  #leftOut = 0;
  #windows: readonly QuotaWindow[] = [];

  constructor(parts: QuotaKeeperParts) {
    this.#parts = parts;
    const { config, adopts } = parts;
    this.#settings = config.kafkaQuotas;
    const { aliveMs, holdMs, foreignChanges } = this.#settings;
    this.#keeper = new Keeper({
      id: config.nodeId,
      life: randomBytes(8).toString('hex'),
      aliveMs,
      holdMs,
      foreignChanges,
      permitMs: PERMIT_MS,
      adoptsAtStart: adopts,
    });
  }

  get status(): KeeperStatus {
    const { clock, config } = this.#parts;
    const further = { kafkaProblem: this.#describeProblem, leftOut: this.#leftOut, windows: this.#windows };
    return keeperStatus(this.#keeper, clock(), { id: config.nodeId, ...further });
  }

  /** Begins, and waits for what is away. Rejects where the topic cannot be used as it is. */
  async start(): Promise<void> {
    const { topic } = this.#parts;
    this.#timer = setTimeout(() => void this.#rounds(), 0);
    this.#beats = setInterval(() => this.#step({ kind: 'beat' }), BEAT_EVERY_MS);
    await topic.open({
      onEpoch: () => {
        this.#readTo = -1;
        this.#step({ kind: 'epoch' });
      },
      onRecords: (records) => this.#read(records),
      onCaughtUp: () => this.#step({ kind: 'caught-up' }),
      onLost: (reason) =>
        this.#log('warn', 'the topic of the keepers is away; the quotas stay as they are', { reason }),
      onRecovered: () => this.#log('info', 'the topic of the keepers is back', {}),
      onFailed: (error) => this.#log('error', 'the topic of the keepers cannot be used', { reason: error.message }),
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#step({ kind: 'stopping' });
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#wake);
    clearInterval(this.#beats);
    await Promise.race([this.#appending, sleep(FAREWELL_TIMEOUT_MS, undefined, { ref: false })]);
    await Promise.all([this.#parts.topic.close(), this.#parts.admin.close()]);
  }

  async #rounds(): Promise<void> {
    const beganMs = this.#parts.clock();
    try {
      await this.#round();
    } catch (error) {
      this.#log('error', 'a look at the brokers failed', { reason: messageOf(error) });
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#rounds(), Math.max(0, ROUND_EVERY_MS - (this.#parts.clock() - beganMs)));
  }

  async #round(): Promise<void> {
    const { exporters } = this.#settings;
    const [described, ...pages] = await Promise.all([
      this.#describe(),
      ...exporters.map((url) => readExporter(url, this.#settings)),
    ]);
    if (this.#isClosed) return;
    if (this.#windows.length === 0 && described !== null) void this.#lookAtWindows();
    // An exporter's last page counts while it gives no other.
    const seen = pages.flatMap(({ exporter, readings }) => {
      return readings?.map(({ entity }) => entity) ?? this.#keeper.exporters.lastSeenAt(exporter);
    });
    const ownClient = this.#parts.config.topic.kind === 'kafka' ? this.#parts.config.topic.clientId : null;
    this.#shadows.clear();
    const { limits, unlimited, leftOut, groupsMissing } = limitSpecs({
      rules: this.#settings.entities,
      seen: seen.filter(({ clientId }) => clientId !== ownClient),
      quotaOf: (group) => this.#quotaOf(group),
      maxEntities: this.#settings.maxEntities,
    });
    this.#leftOut = leftOut;
    this.#tellOnce(leftOut > 0, 'left out', 'more entities than kafkaQuotas.maxEntities', { leftOut });
    this.#tellOnce(groupsMissing.length > 0, 'groups', 'entities name groups that do not exist', {
      groups: groupsMissing.slice(0, 10),
      effect: 'their quotas in Kafka stay as they are',
    });
    this.#tellOnce(this.#shadows.size > 0, 'shadows', 'groups with mode: shadow have no quota in Kafka', {
      groups: [...this.#shadows].slice(0, 10),
      effect: 'nobody is refused, and what would have been is not counted',
    });
    const markers = markersOf(this.#settings.entities, (group) => this.#quotaOf(group));
    this.#tellOfConsumers(markers.some(({ name }) => name === 'consumer_byte_rate'));
    this.#step({ kind: 'round', limits, markers, pages, described, unseen: this.#unseen(seen), unlimited });
  }

  #unseen(seen: readonly Entity[]): ReadonlySet<string> {
    const keys = new Set(seen.map(entityKeyOf));
    const unseen = [...this.#keeper.limits.values()].filter(({ entity, record }) => {
      return record !== null && !keys.has(entityKeyOf(entity)) && isOfPattern(this.#settings.entities, entity);
    });
    return new Set(unseen.map(({ entity }) => entityKeyOf(entity)));
  }

  async #describe(): Promise<readonly DescribedQuota[] | null> {
    try {
      const described = describedQuotas(await this.#parts.admin.describe());
      if (this.#describeProblem !== null) this.#log('info', 'Kafka tells its quotas again', {});
      this.#describeProblem = null;
      return described;
    } catch (error) {
      const reason = messageOf(error);
      if (!this.#isClosed && this.#describeProblem === null) {
        this.#log('warn', 'Kafka does not tell its quotas; they stay as they are', { reason });
      }
      this.#describeProblem = reason;
      return null;
    }
  }

  #quotaOf(name: string): GroupBytes | null {
    const { groups, templates } = this.#parts;
    const number = groups.numbers.get(name);
    const config = number === undefined ? templates.settingsOf(name) : groups.at(number);
    if (config === null) return null;
    if (config.mode === 'shadow') this.#shadows.add(name);
    return bytesOf(config);
  }

  async #lookAtWindows(): Promise<void> {
    try {
      this.#windows = await this.#parts.admin.windows();
    } catch (error) {
      this.#tellOnce(true, 'windows', 'quota.window.num of the brokers is not known', { reason: messageOf(error) });
      return;
    }
    for (const { broker, windows, windowSeconds } of this.#windows) {
      const facts = { broker, windows, windowSeconds, roughness: roughnessOf(windows, windowSeconds) };
      if (facts.roughness !== null) this.#log('warn', 'quota.window.num is not 1: rates will be rough', facts);
    }
  }

  #tellOfConsumers(areKept: boolean): void {
    const broker = this.#windows.find(({ windows }) => troubleOfConsumers(windows) !== null);
    const message = 'quota.window.num is 1, and consumers have quotas';
    const remedy = 'set quota.window.num=2 at every broker';
    const facts = { broker: broker?.broker, effect: troubleOfConsumers(1), remedy };
    this.#tellOnce(areKept && broker !== undefined, 'one window', message, facts);
  }

  #read(records: readonly ReadRecord[]): void {
    const { cluster } = this.#parts.config;
    const kept = records.flatMap(({ offset, key, value }): KeptRecord[] => {
      // Records may be delivered again, but sent to Kafka once.
      if (offset <= this.#readTo) return [];
      this.#readTo = offset;
      if (value === null) return [{ key, record: null }];
      const record = decodeKeeperRecord(cluster, value);
      return record === null ? [] : [{ key, record }];
    });
    if (kept.length > 0) this.#step({ kind: 'records', records: kept });
  }

  #step(event: KeeperEvent): void {
    if (this.#isClosed) return;
    for (const effect of this.#keeper.step(event, this.#parts.clock())) this.#perform(effect);
  }

  #perform(effect: KeeperEffect): void {
    switch (effect.kind) {
      case 'log':
        this.#log(effect.level, effect.message, effect.facts);
        return;
      case 'append':
        this.#append(effect.records);
        return;
      case 'wake':
        clearTimeout(this.#wake);
        this.#wake = setTimeout(() => this.#step({ kind: 'woken' }), Math.ceil(effect.inMs));
        return;
      case 'alter':
        void this.#alter(effect.alterations);
    }
  }

  #append(records: Extract<KeeperEffect, { kind: 'append' }>['records']): void {
    const { topic, config } = this.#parts;
    const encoded = records.map(({ key, record }) => {
      return { partition: 0, key, value: record === null ? null : encodeKeeperRecord(config.cluster, record) };
    });
    this.#appending = topic.append(encoded).catch((error: unknown) => {
      this.#log('debug', 'a record of the keeper was not appended', { reason: messageOf(error) });
      this.#step({ kind: 'append-failed' });
    });
  }

  async #alter(alterations: readonly Alteration[]): Promise<void> {
    const { admin, clock } = this.#parts;
    let failures: readonly AlterFailure[];
    const mayStill = () => {
      const may = this.#keeper.election.mayWrite(clock());
      if (may) this.#log('debug', 'quotas are sent to Kafka', { count: alterations.length });
      return may;
    };
    try {
      const refused = await admin.alter(changesOf(alterations), mayStill);
      failures = refused.map(({ entity, reason }) => ({ entity: entityOfParts(entity) ?? NOBODY, reason }));
    } catch (error) {
      failures = alterations.map(({ entity }) => ({ entity, reason: messageOf(error) }));
    }
    this.#step({ kind: 'altered', count: alterations.length, failures });
  }

  #tellOnce(isSo: boolean, key: string, message: string, facts: Readonly<Record<string, unknown>>): void {
    if (isSo && !this.#told.has(key)) this.#log('warn', message, facts);
    if (isSo) this.#told.add(key);
    else this.#told.delete(key);
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', message: string, facts: Readonly<Record<string, unknown>>): void {
    this.#parts.telemetry.log(level, message, { component: 'kafka-quotas', ...facts });
  }
}

/** Stands for entities in answers that nobody requested. */
const NOBODY: Entity = { user: null, clientId: DEFAULT_NAME };

/**
 * Returns a quota that nobody has for each name kept. *Why:* brokers report users while all quotas of a name are of
 * users, pairs while all are of pairs; else client ids, and whoever has its own quota.
 */
export function markersOf(rules: readonly KafkaQuotaEntity[], quotaOf: SpecsInput['quotaOf']): Marker[] {
  return QUOTA_NAMES.flatMap((name) => {
    const keeping = rules.filter(({ group }) => mayKeep(group, name, quotaOf));
    if (keeping.length === 0) return [];
    const hasClients = keeping.some(({ user }) => user === null);
    const hasUsers = keeping.some(({ clientId }) => clientId === null);
    const entity = {
      user: hasClients ? null : MARKER_NAME,
      clientId: hasUsers && !hasClients ? null : MARKER_NAME,
    };
    return [{ entity, name }];
  });
}

/** Tests if a group may have a quota of that name. A name made of captures follows its template, or may have any. */
function mayKeep(group: string, name: QuotaName, quotaOf: SpecsInput['quotaOf']): boolean {
  const sample = group.replaceAll(/\{\w+\}/g, 'x');
  const quotas = quotasOf(quotaOf(sample));
  if (quotas.length === 0) return sample !== group;
  return quotas.some(([each, bytes]) => each === name && bytes < Infinity);
}
