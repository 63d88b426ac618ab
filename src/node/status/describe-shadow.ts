import { BYTES, DIRECTIONS, type Direction, laneOf, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { DirectionStatus, RateStatus } from '../api/node-status.js';
import type { ShadowDirectionStatus, ShadowStatus } from '../api/shadow-status.js';
import type { StatusParts } from './status-parts.js';

/** The status of one direction of a group, by the number of the group. */
type Described = (group: number, direction: Direction) => DirectionStatus;

/** null = the group has no shadow, and is none. */
export function describeShadow(parts: StatusParts, group: number, described: Described): ShadowStatus | null {
  const { groups } = parts;
  const kind = groups.at(group).mode === 'shadow' ? 'group' : 'planned';
  const shadow = kind === 'group' ? group : groups.shadowOf(group);
  if (shadow === null) return null;
  const of = (direction: Direction) => describeShadowLane(parts, shadow, direction, described(shadow, direction));
  return {
    kind,
    strategy: groups.at(shadow).strategy,
    directions: { publish: of('publish'), dispatch: of('dispatch') },
  };
}

function describeShadowLane(
  { gate, limiter, clock }: StatusParts,
  shadow: number,
  direction: Direction,
  { quota, quotaAsWritten, nodes, local }: DirectionStatus,
): ShadowDirectionStatus {
  const lane = laneOf(shadow, DIRECTIONS.indexOf(direction));
  const { wouldRefuse, wouldGrant } = gate.shadows.counts.of(lane);
  const [messages, bytes] = [slotOf(lane, MESSAGES), slotOf(lane, BYTES)];
  return {
    quota,
    quotaAsWritten,
    usage: sumOf(nodes.map(({ usage }) => usage)),
    demand: sumOf(nodes.map(({ demand }) => demand)),
    share: local.share,
    admittedMessages: limiter.admitted.at(messages),
    admittedBytes: limiter.admitted.at(bytes),
    refusedMessages: limiter.refused.at(messages),
    refusedBytes: limiter.refused.at(bytes),
    wouldRefuse: { ...wouldRefuse },
    wouldGrant: { ...wouldGrant },
    refusedBecause: gate.shadows.refusals.of(lane, clock()),
  };
}

function sumOf(rates: readonly RateStatus[]): RateStatus {
  const sum = (key: keyof RateStatus) => rates.reduce((total, each) => total + (each[key] ?? 0), 0);
  return { messagesPerSecond: sum('messagesPerSecond'), bytesPerSecond: sum('bytesPerSecond') };
}
