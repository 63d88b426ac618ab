import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { describeQuota } from '../../config/describe/describe-config.js';
import { groupIdOf } from '../../core/base/ids.js';
import { finiteOrNull, shownRates } from '../../core/base/shown-rates.js';
import { BYTES, DIRECTIONS, type Direction, MESSAGES } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import type { Member } from '../../core/usage-map/membership.js';
import type { SilentRates } from '../../core/usage-map/silent-rates.js';
import type { KeyReport, KeyStatus } from '../api/node-status.js';
import type { KeyBook, KeySeen } from '../groups/keys/key-book.js';
import type { KeyTemplates } from '../groups/keys/key-templates.js';
import { describeGroup } from './describe-node.js';
import { ruleOf } from './rule-of.js';
import type { StatusParts } from './status-parts.js';

export type KeyStatusParts = StatusParts & { readonly keys: KeyBook | null };

/** Describes a key, used here or not; null = no template. */
export function describeKey(parts: KeyStatusParts, name: string): KeyStatus | null {
  const known = parts.keys?.known(name) ?? null;
  if (known === null) return null;
  const { template, settings, isUsed, left, remaining } = known;
  const group = parts.keys?.numberShown(name) ?? null;
  const reports = perDirection((direction) => reportsOf(parts, name, direction));
  const silent = known.group === null && !isReported(parts, name);
  const whole = (amount: number) => finiteOrNull(Math.floor(amount));
  const wholeOf = (units: KeySeen['left']) => {
    return perDirection((direction) => {
      const [messages, bytes] = units[DIRECTIONS.indexOf(direction)];
      return { messages: whole(messages), bytes: whole(bytes) };
    });
  };
  return {
    key: name,
    template,
    rule: ruleOf(parts, name),
    quota: perDirection((direction) => describeQuota(settings, direction)),
    used: isUsed,
    silent,
    leftUnpublished: silent ? wholeOf(left) : null,
    remaining: silent ? wholeOf(remaining) : null,
    group: group === null ? null : describeGroup(parts, group),
    reports,
  };
}

/** Throws KEY_UNKNOWN, with the keys that templates make of this text. */
export function unknownKey(templates: KeyTemplates, name: string): never {
  const names = templates.namesWith(name);
  const near = names.length === 0 ? '' : `; ${names.join(', ')} would be one`;
  throw new QuotameshError('KEY_UNKNOWN', { key: name.slice(0, 200), near });
}

function perDirection<Each>(of: (direction: Direction) => Each): Record<Direction, Each> {
  return { publish: of('publish'), dispatch: of('dispatch') };
}

/** Tests if some node publishes it: then nobody may spend it unpublished. */
function isReported({ config, loop: { coordinator } }: StatusParts, name: string): boolean {
  if (coordinator === null) return false;
  const { usageMap } = coordinator;
  const groupId = groupIdOf(config.cluster, name);
  return DIRECTIONS.some((_, direction) => usageMap.firstRow(usageMap.findMapLane(groupId, direction)) !== -1);
}

/** Lists the nodes' use by reports and heartbeats, which need no name. */
function reportsOf(parts: StatusParts, name: string, direction: Direction): KeyReport[] {
  const { coordinator } = parts.loop;
  if (coordinator === null) return [];
  const { usageMap } = coordinator;
  const at = DIRECTIONS.indexOf(direction);
  const groupId = groupIdOf(parts.config.cluster, name);
  const reports: KeyReport[] = [];
  coordinator.log.keys.forEach(groupId, at, parts.clock(), (member, rates) => {
    reports.push(unpublishedBy(coordinator, member, rates));
  });
  const mapLane = usageMap.findMapLane(groupId, at);
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = usageMap.rows.nextOf(row)) {
    reports.push(reportedIn(parts, row));
  }
  const wanted = ({ demand }: KeyReport) => demand.messagesPerSecond || demand.bytesPerSecond || 0;
  return reports.sort((one, other) => wanted(other) - wanted(one));
}

/** Returns a node's unpublished use, which its heartbeat alone says. */
function unpublishedBy({ nodeKey }: Coordinator, member: Member, { messages, bytes }: SilentRates): KeyReport {
  const rates = shownRates([messages, bytes]);
  return {
    nodeId: member.nodeId,
    self: member.nodeKey === nodeKey,
    usage: rates,
    demand: rates,
    charged: { messages: 0, bytes: 0 },
    reportAgeMs: null,
  };
}

function reportedIn({ loop: { coordinator }, clock }: StatusParts, row: number): KeyReport {
  const { usageMap, membership, nodeKey } = coordinator!;
  const { rows } = usageMap;
  const [page, start] = [rows.pageOf(row), rows.startOf(row)];
  const member = membership.inSlot(rows.memberOf(row));
  const [messages, bytes] = rows.chargesOf(row);
  return {
    nodeId: member.nodeId,
    self: member.nodeKey === nodeKey,
    usage: shownRates([page.usageOf(start, MESSAGES), page.usageOf(start, BYTES)]),
    demand: shownRates([page.demandOf(start, MESSAGES), page.demandOf(start, BYTES)]),
    charged: { messages, bytes },
    reportAgeMs: Math.round(clock() - rows.readMsOf(row)),
  };
}
