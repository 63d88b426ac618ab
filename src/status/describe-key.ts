import type { KeyStatus, KeyTold } from '../api/key-status.js';
import { describeQuota } from '../config/describe/describe-config.js';
import { groupIdOf } from '../core/base/ids.js';
import { finiteOrNull, shownRates } from '../core/base/shown-rates.js';
import { BYTES, DIRECTIONS, type Direction, MESSAGES, type Rates } from '../core/base/vocabulary.js';
import type { ObservedRates } from '../core/usage-map/observed-book.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import type { KeyTemplates } from '../groups/keys/key-templates.js';
import { describeGroup } from './describe-node.js';
import type { StatusParts } from './status-parts.js';

export type KeyStatusParts = StatusParts & { readonly keys: KeyBook | null };

/** What this node knows of a key, whether it uses it or not; null where no template has such names. */
export function describeKey(parts: KeyStatusParts, name: string): KeyStatus | null {
  const known = parts.keys?.known(name) ?? null;
  if (known === null) return null;
  const { template, settings, isUsed, group, left } = known;
  const told = perDirection((direction) => toldOf(parts, { name, direction, quota: settings.quota[direction] }));
  const silent = group === null && told.publish.length === 0 && told.dispatch.length === 0;
  const whole = (amount: number) => finiteOrNull(Math.floor(amount));
  const leftOf = (direction: Direction) => {
    const [messages, bytes] = left[DIRECTIONS.indexOf(direction)]!;
    return { messages: whole(messages), bytes: whole(bytes) };
  };
  return {
    key: name,
    template,
    quota: perDirection((direction) => describeQuota(settings, direction)),
    used: isUsed,
    silent,
    leftUnheard: silent ? perDirection(leftOf) : null,
    group: group === null ? null : describeGroup(parts, group),
    told,
  };
}

/** Throws KEY_UNKNOWN, which names the keys that templates would make of this text. */
export function unknownKey(templates: KeyTemplates, name: string): never {
  const names = templates.namesWith(name);
  const near = names.length === 0 ? '' : `; ${names.join(', ')} would be one`;
  throw new QuotameshError('KEY_UNKNOWN', { key: name.slice(0, 200), near });
}

function perDirection<Told>(tell: (direction: Direction) => Told): Record<Direction, Told> {
  return { publish: tell('publish'), dispatch: tell('dispatch') };
}

interface ToldLane {
  readonly name: string;
  readonly direction: Direction;
  readonly quota: Rates;
}

/** By the rows of the log, for which nobody has to know the name of the group. */
function toldOf(
  { config, loop: { coordinator }, clock }: StatusParts,
  { name, direction, quota }: ToldLane,
): KeyTold[] {
  if (coordinator === null) return [];
  const { usageMap, membership, nodeKey } = coordinator;
  const at = DIRECTIONS.indexOf(direction);
  const groupId = groupIdOf(config.cluster, name);
  const mapLane = usageMap.findMapLane(groupId, at);
  if (mapLane === -1) return [];
  const { rows } = usageMap;
  const newest = new Map<number, ObservedRates>();
  coordinator.log.observed.forEach(groupId, at, clock(), (_, rates, row) => newest.set(row, rates));
  const told: KeyTold[] = [];
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const [page, start] = [rows.pageOf(row), rows.startOf(row)];
    const member = membership.inSlot(rows.memberOf(row));
    const [messages, bytes] = rows.chargesOf(row);
    // What a key spent at once when it began to speak stands there for as long as it is held to its quota.
    const observed = newest.get(row);
    const usageOf = (dimension: number) => {
      return Math.min(observed?.usage[dimension] ?? page.usageOf(start, dimension), quota[dimension] as number);
    };
    const demandOf = (dimension: number) => observed?.demand[dimension] ?? page.demandOf(start, dimension);
    told.push({
      nodeId: member.nodeId,
      self: member.nodeKey === nodeKey,
      usage: shownRates([usageOf(MESSAGES), usageOf(BYTES)]),
      demand: shownRates([demandOf(MESSAGES), demandOf(BYTES)]),
      charged: { messages, bytes },
      reportAgeMs: Math.round(clock() - rows.readMsOf(row)),
    });
  }
  const wanted = ({ demand }: KeyTold) => demand.messagesPerSecond || demand.bytesPerSecond || 0;
  return told.sort((one, other) => wanted(other) - wanted(one));
}
