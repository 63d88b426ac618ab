import { DIMENSIONS, DIRECTION_COUNT, DIRECTIONS, slotOf } from '../../core/base/vocabulary.js';
import { LEVELS } from '../../core/limiter/levels.js';
import type { WorkCounts } from '../../node/admission/request/scope-resolver.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { byLabel, counter, gauge, type Labelled, type MetricTable, perDimension } from './metric.js';

/** Sums over all groups; the limiter's figures are by lane or slot (core/base/vocabulary.ts). */
export const ADMISSION_METRICS: MetricTable<NodeParts> = {
  ...perDimension('quotamesh_admitted_*_total', (at, units) => counter(`${units} admitted.`, counted('admitted', at))),
  ...perDimension('quotamesh_attempted_*_total', (at, units) =>
    counter(`${units} asked for, retries of the same work not counted again.`, counted('attempted', at)),
  ),
  ...perDimension('quotamesh_refused_*_total', (at, units) =>
    counter(`${units} refused; of what waits once, when it begins to.`, counted('refused', at)),
  ),
  quotamesh_exempt_requests_total: counter(
    'Requests of scopes that an attachment exempts: granted without a limit, and counted nowhere else.',
    exempt('requests'),
  ),
  ...perDimension('quotamesh_exempt_*_total', (at, units) => counter(`${units} of those.`, exempt(DIMENSIONS[at]))),
  quotamesh_refusals_total: counter(
    'Acquires refused for the quota; one that waits counts once, when it begins to.',
    perLane((lane, { gate }) => gate.shadows.inForce.refusedOnce.at(lane)),
  ),
  quotamesh_level_refusals_total: counter(
    'Acquires refused by the limit of the node, of a topic (a part of the share included) or of a client; those of the groups are in quotamesh_refusals_total.',
    byLabel('level', ({ gate: { levels } }) =>
      Object.fromEntries(LEVELS.flatMap((level, at) => (level === 'group' ? [] : [[level, levels.refusals[at]]]))),
    ),
  ),
  quotamesh_would_refuse_total: counter(
    'Acquires granted, and messages that enforcers admitted, that the shadow of their group would have refused.',
    differing('wouldRefuse'),
  ),
  quotamesh_would_grant_total: counter(
    'Acquires refused at once that the shadow of their group would have granted.',
    differing('wouldGrant'),
  ),
  quotamesh_held_back: gauge(
    'Asks and connections that wait for their turn now.',
    perLane((lane, { limiter }) => limiter.heldBack[lane]),
  ),
  quotamesh_waits_total: counter(
    'Acquires that have waited, by how it ended: granted, or otherwise (time was up, aborted, stopped).',
    byLabel('outcome', ({ gate }) => {
      const { granted, otherwise } = gate.waiting.ended;
      return { granted, otherwise };
    }),
  ),
  quotamesh_waited_seconds_total: counter(
    'Time that they have waited; divided by waits: their mean.',
    ({ gate }) => gate.waiting.ended.totalMs / 1000,
  ),
  ...perDimension('quotamesh_debt_*', (at, units) =>
    gauge(`${units} that accepted work has left as debt, over all groups.`, debt(at)),
  ),
  ...perDimension('quotamesh_let_off_*_total', (at, units) =>
    counter(
      `${units} of work that could not be refused, beyond the debt of debtMs: nobody pays for them. Rising: a caller takes more than its node may owe.`,
      letOff(at),
    ),
  ),
  quotamesh_enforcers: gauge(
    'Enforcers (docs/guide/enforce.md) that have parts at this node.',
    ({ enforcers }) => enforcers.alive,
  ),
  quotamesh_enforcer_lower_counts_total: counter(
    'Reports with lower counts than the life had reported before: requests that others have passed on the way. Many are two processes with one name and life, of which only the higher counts are charged.',
    ({ enforcers }) => enforcers.lowerCounts,
  ),
  quotamesh_batches: gauge(
    'Batches (docs/guide/batches-and-refunds.md) that are open now.',
    ({ gate }) => gate.batches.counts.open,
  ),
  quotamesh_batches_granted_total: counter(
    'Batches granted, of the library and over HTTP.',
    ({ gate: { batches } }) => batches.counts.open + batches.counts.ended,
  ),
  quotamesh_batches_ended_total: counter(
    'Batches by how they ended: refunded, or expired (with their window or time, or because their group has another limiter or window; all of it counts as used).',
    byLabel('outcome', ({ gate }) => {
      const { ended, expired } = gate.batches.counts;
      return { refunded: ended - expired, expired };
    }),
  ),
  quotamesh_refunds_refused_total: counter(
    'Refunds that gave nothing back: without a grant, late, twice, too large, or wrong.',
    ({ gate }) => gate.batches.counts.refundsRefused,
  ),
};

function counted(name: 'admitted' | 'attempted' | 'refused', dimension: number): Labelled<NodeParts> {
  return perLane((lane, { gate }) => gate.shadows.inForce[name].at(slotOf(lane, dimension)));
}

function exempt(name: keyof WorkCounts): Labelled<NodeParts> {
  return byLabel('direction', ({ gate: { scopes } }) => {
    return Object.fromEntries(DIRECTIONS.map((direction, at) => [direction, scopes.exempt[at][name]]));
  });
}

function differing(difference: 'wouldRefuse' | 'wouldGrant'): Labelled<NodeParts> {
  return perLane((lane, { gate }) => gate.shadows.counts.of(lane)[difference].requests, true);
}

function debt(dimension: number): Labelled<NodeParts> {
  return perLane((lane, { limiter, clock }) => limiter.buckets.debt(lane, dimension, clock()));
}

function letOff(dimension: number): Labelled<NodeParts> {
  return perLane((lane, { limiter }) => limiter.buckets.letOffAt(slotOf(lane, dimension)));
}

/** Sums over the lanes of groups. @param withShadows adds the plans beside groups */
function perLane(read: (lane: number, node: NodeParts) => number, withShadows = false): Labelled<NodeParts> {
  return byLabel('direction', (node) => {
    const totals = DIRECTIONS.map(() => 0);
    for (let lane = 0; lane < node.limiter.laneCount; lane++) {
      if (!withShadows && node.groups.isStandIn(Math.floor(lane / DIRECTION_COUNT))) continue;
      totals[lane % DIRECTION_COUNT] += read(lane, node);
    }
    return Object.fromEntries(DIRECTIONS.map((direction, at) => [direction, totals[at]]));
  });
}
