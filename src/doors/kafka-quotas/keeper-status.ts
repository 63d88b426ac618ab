import { z } from 'zod';
import { entityText, limitKeyOf } from '../../core/beside/kafka-quotas/entity.js';
import type { Keeper } from '../../core/beside/kafka-quotas/keeper.js';
import { isSaturated } from '../../core/beside/kafka-quotas/next-water-level.js';

const text = z.string();
const number = z.number().min(0);

const EXPORTER = z.strictObject({
  url: text,
  state: z.enum(['fine', 'odd', 'silent', 'unknown']).meta({
    description: 'With silent its last page counts; with unknown its brokers count as wanting everything.',
  }),
  problem: text.nullable(),
  silentMs: number
    .nullable()
    .meta({ description: 'Milliseconds since its last page; null means that there was none.' }),
  series: number,
});
type ExporterStatus = z.infer<typeof EXPORTER>;

const LIMIT = z.strictObject({
  entity: text,
  quotaName: text,
  group: text,
  quota: number.meta({ description: 'Bytes per second of the whole Kafka cluster.' }),
  inForce: number.nullable().meta({ description: 'Bytes per second that every broker enforces.' }),
  usage: number.meta({ description: 'Bytes per second of all brokers together.' }),
  state: z.enum(['kept', 'left', 'waiting']).meta({
    description:
      'With kept quotamesh writes it; with left a foreign value stands there; with waiting nothing is written.',
  }),
  original: number.nullable().meta({ description: 'The quota that a release puts back.' }),
  brokers: z.array(z.strictObject({ url: text, rate: number.nullable(), isSaturated: z.boolean() })),
});
export type LimitStatus = z.infer<typeof LIMIT>;

/** Answer of `GET /v1/kafka-quotas`: counts since the start, rates in bytes/s. */
export const KEEPER_STATUS = z.strictObject({
  keeper: text,
  writer: text.nullable().meta({ description: 'The keeper that writes; null means that there is none yet.' }),
  term: number,
  mayWrite: z.boolean(),
  keepers: z
    .array(text)
    .readonly()
    .meta({ description: 'Those alive, this one included, in order: the first writes.' }),
  kafkaProblem: text.nullable().meta({ description: 'Why Kafka reports no quotas; null means that it does.' }),
  exporters: z.array(EXPORTER),
  windows: z.array(z.strictObject({ broker: text, windows: number, windowSeconds: number })).readonly(),
  limits: z.array(LIMIT),
  leftOut: number.meta({ description: 'Entities beyond kafkaQuotas.maxEntities.' }),
  alterations: number,
  alterationsFailed: number,
  foreignChanges: number,
});
export type KeeperStatus = z.infer<typeof KEEPER_STATUS>;

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
      const state = problem === null ? 'fine' : silentMs < READ_JUST_NOW_MS ? 'odd' : isUsed ? 'silent' : 'unknown';
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

const READ_JUST_NOW_MS = 2000;
