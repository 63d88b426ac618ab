import { BYTES, DIRECTION_COUNT, DIRECTIONS, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import { LEVELS } from '../../core/limiter/levels.js';
import type { ExemptCounts } from '../../node/admission/request/scope-resolver.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { ADMISSION_METRICS } from './metric-table.js';
import { byLabel, type Reading } from './reading.js';

/** Reads sums over all groups; the limiter's figures are by lane or slot (core/base/vocabulary.ts). */
export function admissionReadings(node: NodeParts): Readonly<Record<keyof typeof ADMISSION_METRICS, Reading>> {
  const { limiter, gate } = node;
  const { counts, inForce } = gate.shadows;
  const { ended } = gate.waiting;
  const perLane = (read: (lane: number) => number) => overLanes(read, node);
  const debt = (dimension: number) => perLane((lane) => limiter.buckets.debt(lane, dimension, node.clock()));
  const letOff = (dimension: number) => perLane((lane) => limiter.buckets.letOffAt(slotOf(lane, dimension)));
  const counted = (name: 'admitted' | 'attempted' | 'refused', dimension: number) =>
    perLane((lane) => inForce[name].at(slotOf(lane, dimension)));
  const differing = (difference: 'wouldRefuse' | 'wouldGrant') =>
    overLanes((lane) => counts.of(lane)[difference].requests, node, true);
  const exempt =
    (name: keyof ExemptCounts): Reading =>
    (series) => {
      for (const [at, direction] of DIRECTIONS.entries()) series(gate.scopes.exempt[at][name], { direction });
    };
  return {
    quotamesh_admitted_messages_total: counted('admitted', MESSAGES),
    quotamesh_admitted_bytes_total: counted('admitted', BYTES),
    quotamesh_attempted_messages_total: counted('attempted', MESSAGES),
    quotamesh_attempted_bytes_total: counted('attempted', BYTES),
    quotamesh_refused_messages_total: counted('refused', MESSAGES),
    quotamesh_refused_bytes_total: counted('refused', BYTES),
    quotamesh_exempt_requests_total: exempt('requests'),
    quotamesh_exempt_messages_total: exempt('messages'),
    quotamesh_exempt_bytes_total: exempt('bytes'),
    quotamesh_refusals_total: perLane((lane) => inForce.refusedOnce.at(lane)),
    quotamesh_level_refusals_total: (series) => {
      for (const [at, level] of LEVELS.entries()) if (level !== 'group') series(gate.levels.refusals[at], { level });
    },
    quotamesh_would_refuse_total: differing('wouldRefuse'),
    quotamesh_would_grant_total: differing('wouldGrant'),
    quotamesh_held_back: perLane((lane) => limiter.heldBack[lane]),
    quotamesh_waits_total: byLabel('outcome', () => ({ granted: ended.granted, otherwise: ended.otherwise })),
    quotamesh_waited_seconds_total: (series) => series(ended.totalMs / 1000),
    quotamesh_debt_messages: debt(MESSAGES),
    quotamesh_debt_bytes: debt(BYTES),
    quotamesh_let_off_messages_total: letOff(MESSAGES),
    quotamesh_let_off_bytes_total: letOff(BYTES),
    ...enforcerReadings(node),
    ...batchReadings(gate.batches),
  };
}

function enforcerReadings({ enforcers }: NodeParts) {
  const { counts } = enforcers;
  return {
    quotamesh_enforcers: (series) => series(enforcers.alive),
    quotamesh_enforcer_reports_total: (series) => series(counts.reports),
    quotamesh_enforcer_lower_counts_total: (series) => series(counts.lower),
    quotamesh_enforcers_ended_total: byLabel('how', () => ({ silent: counts.silences, replaced: counts.replaced })),
    quotamesh_enforcer_reports_refused_total: (series) => series(counts.refused),
  } satisfies Partial<Readonly<Record<keyof typeof ADMISSION_METRICS, Reading>>>;
}

function batchReadings({ counts }: NodeParts['gate']['batches']) {
  return {
    quotamesh_batches: (series) => series(counts.open),
    quotamesh_batches_granted_total: (series) => series(counts.open + counts.ended),
    quotamesh_batches_ended_total: byLabel('outcome', () => {
      const { ended, expired } = counts;
      return { refunded: ended - expired, expired };
    }),
    quotamesh_refunds_refused_total: (series) => series(counts.refundsRefused),
  } satisfies Partial<Readonly<Record<keyof typeof ADMISSION_METRICS, Reading>>>;
}

/** Sums over the lanes of groups. @param withShadows adds the plans beside groups */
function overLanes(read: (lane: number) => number, { limiter, groups }: NodeParts, withShadows = false): Reading {
  return (series) => {
    const { laneCount } = limiter;
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      let total = 0;
      for (let lane = direction; lane < laneCount; lane += DIRECTION_COUNT) {
        if (withShadows || !groups.isStandIn((lane - direction) / DIRECTION_COUNT)) total += read(lane);
      }
      series(total, { direction: DIRECTIONS[direction] });
    }
  };
}
