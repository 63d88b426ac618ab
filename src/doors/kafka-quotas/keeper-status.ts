import { entityText, limitKeyOf } from '../../core/beside/kafka-quotas/entity.js';
import type { Keeper } from '../../core/beside/kafka-quotas/keeper.js';
import { isSaturated } from '../../core/beside/kafka-quotas/next-water-level.js';
import type { QuotaWindow } from '../../topic/kafka/client-quota-admin.js';

/** Answer of `GET /v1/kafka-quotas`: counts since the start, rates in bytes/s. */
export interface KeeperStatus {
  readonly keeper: string;
  /** Id of the writer; null = none yet. */
  readonly writer: string | null;
  readonly term: number;
  /** True = this keeper may change quotas now. */
  readonly mayWrite: boolean;
  /** Ids alive, this one included, in order: the first writes. */
  readonly keepers: readonly string[];
  /** Reason why Kafka reports no quotas; null = it does. */
  readonly kafkaProblem: string | null;
  readonly exporters: readonly ExporterStatus[];
  readonly windows: readonly QuotaWindow[];
  readonly limits: readonly LimitStatus[];
  /** Entities beyond kafkaQuotas.maxEntities. */
  readonly leftOut: number;
  readonly alterations: number;
  readonly alterationsFailed: number;
  readonly foreignChanges: number;
}

export interface ExporterStatus {
  readonly url: string;
  /** silent: its last page counts; unknown: its brokers count as wanting everything. */
  readonly state: 'fine' | 'odd' | 'silent' | 'unknown';
  readonly problem: string | null;
  /** Milliseconds since its last page; null = none yet. */
  readonly silentMs: number | null;
  readonly series: number;
}

export interface LimitStatus {
  readonly entity: string;
  readonly quotaName: string;
  readonly group: string;
  /** Bytes/s of the whole Kafka cluster. */
  readonly quota: number;
  /** Value that every broker enforces, as Kafka last reported; null = none. */
  readonly inForce: number | null;
  /** Bytes/s of all brokers together. */
  readonly usage: number;
  /** kept: quotamesh writes it; left: a foreign value stands there; waiting: not written yet. */
  readonly state: 'kept' | 'left' | 'waiting';
  /** Value before quotamesh, put back by --release; null = none. */
  readonly original: number | null;
  readonly brokers: readonly { readonly url: string; readonly rate: number | null; readonly isSaturated: boolean }[];
}

export function keeperStatus(
  keeper: Keeper,
  nowMs: number,
  further: Pick<KeeperStatus, 'kafkaProblem' | 'leftOut' | 'windows'> & { readonly id: string },
): KeeperStatus {
  const { election, exporters, counts } = keeper;
  const { id, ...others } = further;
  const states = [...exporters.states(nowMs)];
  return {
    keeper: id,
    writer: election.writer?.id ?? null,
    term: election.writer?.term ?? 0,
    mayWrite: election.mayWrite(nowMs),
    keepers: election.alive(nowMs),
    ...others,
    exporters: states.map(({ exporter, problem, silentMs, isUsed, series }): ExporterStatus => {
      const state = problem === null ? 'fine' : silentMs < HEARD_JUST_NOW_MS ? 'odd' : isUsed ? 'silent' : 'unknown';
      return {
        url: exporter,
        state,
        problem,
        silentMs: Number.isFinite(silentMs) ? Math.round(silentMs) : null,
        series,
      };
    }),
    limits: keeper.specs.map(({ entity, name, quota, group }): LimitStatus => {
      const limit = keeper.limits.get(limitKeyOf(entity, name));
      const inForce = limit?.found ?? null;
      const sharers = exporters.entitiesOf(entity, name).map((each) => exporters.readingsOf(each, name, nowMs));
      const brokers = states.map(({ exporter }, at) => {
        const readings = sharers.map((each) => each[at] ?? null);
        const isUnknown = readings.some((reading) => reading === null);
        const rate = isUnknown ? null : readings.reduce((sum, reading) => sum + (reading?.rate ?? 0), 0);
        return { url: exporter, rate, isSaturated: readings.some((reading) => isSaturated(reading, inForce)) };
      });
      return {
        entity: entityText(entity),
        quotaName: name,
        group,
        quota,
        inForce,
        usage: brokers.reduce((sum, { rate }) => sum + (rate ?? 0), 0),
        state: limit?.isLeft === true ? 'left' : (limit?.record ?? null) === null ? 'waiting' : 'kept',
        original: limit?.original ?? null,
        brokers,
      };
    }),
    ...counts,
  };
}

const HEARD_JUST_NOW_MS = 2000;
