import { LEVELS } from '../core/limiter/levels.js';
import type { Limiter } from '../core/limiter/limiter.js';
import { BYTES, DIMENSION_COUNT, DIRECTION_COUNT, DIRECTIONS, MESSAGES } from '../core/vocabulary.js';
import type { ADMISSION_METRICS } from './metric-table.js';
import type { MetricSources, Reading } from './metrics.js';

/** Sums over all groups; the limiter's columns are indexed by lane or slot (core/vocabulary.ts). */
export function admissionReadings({
  node,
  outcomes,
}: MetricSources): Readonly<Record<keyof typeof ADMISSION_METRICS, Reading>> {
  const { limiter, gate } = node;
  const debt = (dimension: number) => perLane((lane) => limiter.buckets.debt(lane, dimension, node.clock()), limiter);
  return {
    quotamesh_admitted_messages_total: perDirection(limiter.admitted, DIMENSION_COUNT, MESSAGES),
    quotamesh_admitted_bytes_total: perDirection(limiter.admitted, DIMENSION_COUNT, BYTES),
    quotamesh_attempted_messages_total: perDirection(limiter.attempted, DIMENSION_COUNT, MESSAGES),
    quotamesh_attempted_bytes_total: perDirection(limiter.attempted, DIMENSION_COUNT, BYTES),
    quotamesh_refused_messages_total: perDirection(limiter.refused, DIMENSION_COUNT, MESSAGES),
    quotamesh_refused_bytes_total: perDirection(limiter.refused, DIMENSION_COUNT, BYTES),
    quotamesh_refusals_total: perDirection(limiter.refusals, 1, 0),
    quotamesh_level_refusals_total: (series) => {
      for (const [at, level] of LEVELS.entries()) if (level !== 'group') series(gate.levels.refusals[at]!, { level });
    },
    quotamesh_held_back: perLane((lane) => limiter.heldBack[lane] as number, limiter),
    quotamesh_waits_total: (series) => {
      series(gate.waiting.ended.granted, { outcome: 'granted' });
      series(gate.waiting.ended.otherwise, { outcome: 'otherwise' });
    },
    quotamesh_waited_seconds_total: (series) => series(gate.waiting.ended.totalMs / 1000),
    quotamesh_debt_messages: debt(MESSAGES),
    quotamesh_debt_bytes: debt(BYTES),
    quotamesh_http_acquires_total: (series) => {
      series(outcomes.granted, { outcome: 'granted' });
      series(outcomes.refused, { outcome: 'refused' });
      series(outcomes.notReady, { outcome: 'not-ready' });
      series(outcomes.rejected, { outcome: 'rejected' });
    },
  };
}

/** Σ over the groups of what is read of a lane. */
function perLane(read: (lane: number) => number, { laneCount }: Limiter): Reading {
  return (series) => {
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      let total = 0;
      for (let lane = direction; lane < laneCount; lane += DIRECTION_COUNT) total += read(lane);
      series(total, { direction: DIRECTIONS[direction] as string });
    }
  };
}

/** Σ over the groups of one entry per lane, `width` entries per lane. */
function perDirection(column: Float64Array, width: number, entry: number): Reading {
  return (series) => {
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      let total = 0;
      for (let at = direction * width + entry; at < column.length; at += DIRECTION_COUNT * width) {
        total += column[at] as number;
      }
      series(total, { direction: DIRECTIONS[direction] as string });
    }
  };
}
