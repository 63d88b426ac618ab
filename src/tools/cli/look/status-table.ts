import { printable } from '../../../base/errors/printable.js';
import { SECONDS_OF, SHORT_UNIT } from '../../../config/setting/quantity.js';
import { unitIn } from '../../../config/setting/written-rate.js';
import type {
  ClusterBucketStatus,
  DirectionStatus,
  GroupStatus,
  NodeStatus,
  RateStatus,
  StrictStatus,
} from '../../../node/api/node-status.js';
import { type ClusterStatus, fetchClusterStatus } from '../../node-client/cluster-status.js';
import { nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';
import type { StatusOptions } from './status-command.js';

export async function showStatus(options: StatusOptions): Promise<void> {
  const { group = [], groups, all = false, json = false } = options;
  const status = await fetchClusterStatus(nodeAddress(options), group, all ? Infinity : groups);
  print(json ? JSON.stringify(status) : statusTable(status, all ? ALL : undefined));
}

/** Most rows of long lists. */
interface RowsShown {
  readonly members: number;
  /** Nodes of a quota, most demand first; the others share a row. */
  readonly nodes: number;
}

export const ALL: RowsShown = { members: Infinity, nodes: Infinity };
const FEW: RowsShown = { members: 20, nodes: 10 };

/** Writes the cluster as text: members, then shares. */
export function statusTable({ node, groups, groupsNotShown, keys }: ClusterStatus, rows = FEW): string {
  const more =
    groupsNotShown === 0 ? [] : [`${count(groupsNotShown)} more groups: --all shows them, --group NAME one.`];
  const loud = keys.flatMap(({ group }) => group ?? []);
  const table = groups.length + loud.length === 0 ? [] : ['', ...groupTable([...groups, ...loud], rows)];
  return [
    ...headline(node).map(printable),
    '',
    ...fewMembers(node, rows),
    ...table,
    ...more,
    ...templateTable(node),
  ].join('\n');
}

/** Lists keys of this node by template; the cluster's busiest stand among the groups. */
function templateTable({ keys }: NodeStatus): readonly string[] {
  if (keys.length === 0) return [];
  const rows = keys.map(({ template, live, loud, granted, overQuota, refused }) => {
    return [template, ...[live, loud, granted, overQuota, refused].map(count)];
  });
  const figures = ['LIVE', 'LOUD', 'GRANTED UNPUBLISHED', 'OVER QUOTA', 'NO ROOM'];
  return ['', ...textTable(['KEYS HERE', ...figures], rows, figures)];
}

function fewMembers({ members }: NodeStatus, { members: max }: RowsShown): readonly string[] {
  if (members.length <= max) return memberTable({ members });
  const first = members.toSorted((one, other) => Number(one.state === 'alive') - Number(other.state === 'alive'));
  return [...memberTable({ members: first.slice(0, max) }), `${members.length - max} more nodes: --all shows them.`];
}

function headline(node: NodeStatus): readonly string[] {
  const { topic, reportRoundTripMs, lastRebalancingMs, pool } = node;
  const facts = [
    `cluster ${node.cluster}`,
    `as node ${node.nodeId} sees it`,
    node.ready ? 'ready' : `NOT READY: ${node.notReadyBecause.join('; ')}`,
    `topic ${topic.kind}`,
    ...(pool === null ? [] : [`pool of ${pool.size}${pool.agreed ? '' : ', not agreed yet'}`]),
    ...(reportRoundTripMs > 0 ? [`reports come back after ${milliseconds(reportRoundTripMs)}`] : []),
    ...(lastRebalancingMs > 0 ? [`last rebalancing ${milliseconds(lastRebalancingMs)}`] : []),
  ];
  return [
    facts.join(' · '),
    ...node.degraded.map((reason) => `DEGRADED: ${reason}`),
    ...hiddenLines(node),
    ...busyLines(node),
  ];
}

function hiddenLines({ configuration: { hiddenByRunTime, hidden } }: NodeStatus): readonly string[] {
  if (hiddenByRunTime === 0) return [];
  const more = hiddenByRunTime > hidden.length ? [`and ${hiddenByRunTime - hidden.length} more`] : [];
  return [`HIDDEN (definitions at run time count, not the YAML): ${[...hidden, ...more].join(', ')}`];
}

/** Lists lanes held by saturated backends; `quotamesh explain GROUP` names them. */
function busyLines({ busyLanes, busyGroups }: NodeStatus): readonly string[] {
  if (busyLanes === 0) return [];
  const shown = busyGroups.map(({ group, direction, binding, targetMessagesPerSecond: target }) => {
    return `${group} ${direction} ${count(target)} msg/s (${binding})`;
  });
  const more = busyLanes > shown.length ? [`and ${busyLanes - shown.length} more`] : [];
  return [`BUSY (backends are saturated): ${[...shown, ...more].join(', ')}`];
}

export function memberTable({ members }: Pick<NodeStatus, 'members'>): readonly string[] {
  const rows = members.map(({ nodeId, self, state, silentMs, incarnation, version }) => {
    return [self ? `${nodeId} *` : nodeId, state, seconds(silentMs), String(incarnation), version];
  });
  return textTable(['NODE', 'STATE', 'SILENT', 'LIFE', 'VERSION'], rows, ['SILENT', 'LIFE']);
}

const HEAD = ['GROUP', 'DIRECTION', 'NODE', 'USAGE', 'DEMAND', 'SHARE', 'OF', 'AGE'];

function groupTable(groups: readonly GroupStatus[], shown: RowsShown): readonly string[] {
  const rows = groups.flatMap((group) => {
    const { publish, dispatch } = group.directions;
    const both = [
      ...directionRows('publish', publish, shown),
      ...shadowRows('publish', group),
      ...directionRows('dispatch', dispatch, shown),
      ...shadowRows('dispatch', group),
    ];
    const why = group.enabled ? 'no quota' : 'disabled';
    const [first, ...others] = both.length > 0 ? both : [['', why, '', '', '', '', '', '']];
    return [[group.group, ...(first ?? []).slice(1)], ...others];
  });
  return textTable(HEAD, rows, ['USAGE', 'DEMAND', 'SHARE', 'OF', 'AGE']);
}

/** Writes the shadow's quota, and its differences at this node. */
function shadowRows(name: 'publish' | 'dispatch', { shadow }: GroupStatus): string[][] {
  const direction = shadow?.directions[name];
  if (shadow == null || direction === undefined) return [];
  const { quota, usage, demand, wouldRefuse, wouldGrant } = direction;
  const state = `would refuse ${count(wouldRefuse.requests)}, grant ${count(wouldGrant.requests)}`;
  const row = (title: string, key: RateKey, show: (units: number) => string) => {
    const most = quota[key];
    return most === null ? [] : [['', title, state, show(usage[key] ?? 0), show(demand[key] ?? 0), '', show(most), '']];
  };
  return [
    ...row(`${name} msg shadow`, 'messagesPerSecond', count),
    ...row(`${name} B shadow`, 'bytesPerSecond', bytes),
  ];
}

type RateKey = keyof RateStatus;

function directionRows(name: string, direction: DirectionStatus, shown: RowsShown): string[][] {
  const { ramp, clusterBucket, strict } = direction;
  if (strict != null) return strictRows(name, strict, shown);
  return [
    ...dimensionRows(`${name} msg`, direction, 'messagesPerSecond', shown),
    ...dimensionRows(`${name} B`, direction, 'bytesPerSecond', shown),
    ...(ramp === null ? [] : [['', `${name} ramp`, ramp.state, '', '', count(ramp.ceiling), count(ramp.to), '']]),
    ...tokenRows(`${name} tokens`, clusterBucket?.messages, count),
    ...tokenRows(`${name} B tokens`, clusterBucket?.bytes, bytes),
  ];
}

/** Writes a strict bucket: quota, what waits in the log of the depth, and what each node wants and may hold. */
function strictRows(name: string, strict: StrictStatus, { nodes: max }: RowsShown): string[][] {
  const { state, pool, depth, quotaPerSecond, isInForce, holders } = strict;
  const sorted = holders.toSorted((one, other) => other.wantPerSecond - one.wantPerSecond);
  const wants = (some: typeof holders) => count(sumOf(some.map(({ wantPerSecond }) => wantPerSecond)));
  const holds = (some: typeof holders) => count(sumOf(some.map(({ hold }) => hold)));
  const others = sorted.slice(max);
  return [
    ['', `${name} msg/s`, isInForce ? 'Σ' : 'Σ, quota changes', '', wants(holders), '', count(quotaPerSecond), ''],
    ['', `${name} strict`, state, '', '', count(pool), count(depth), ''],
    ...sorted.slice(0, max).map((each) => ['', '', each.nodeId, '', wants([each]), holds([each]), '', '']),
    ...(others.length === 0 ? [] : [['', '', `${others.length} others`, '', wants(others), holds(others), '', '']]),
  ];
}

/** Writes tokens and depth of the cluster's bucket; a debt is negative. */
function tokenRows(
  title: string,
  bucket: ClusterBucketStatus | null | undefined,
  show: (units: number) => string,
): string[][] {
  if (bucket === null || bucket === undefined) return [];
  const { tokens, depth, inPieces, throttled } = bucket;
  const state = inPieces ? 'in pieces' : throttled ? 'throttled' : 'met';
  return [['', title, state, '', '', `${tokens < 0 ? '-' : ''}${show(Math.abs(tokens))}`, show(depth), '']];
}

/**
 * Writes a row per node and a sum, per limited dimension; a quota by cost limits messages. Shares have the quota's unit
 * of time. Usage and demand stay per second: one message would show as 225,000 per hour.
 */
function dimensionRows(what: string, direction: DirectionStatus, key: RateKey, { nodes: max }: RowsShown): string[][] {
  const { nodes, target, shareSum, quotaAsWritten } = direction;
  if (target[key] === null) return [];
  const isBytes = key === 'bytesPerSecond';
  const per = unitIn(quotaAsWritten, isBytes ? 'bytes' : 'messages');
  const title = `${what}/${SHORT_UNIT[per]}`;
  const shown = isBytes ? bytes : count;
  const show = (rate: number | null) => shown(rate === null ? null : rate * SECONDS_OF[per]);
  const measured = (rate: number | null) => (per === 'second' || rate === null ? shown(rate) : `${shown(rate)}/s`);
  const [first, others] = nodes.length <= max ? [nodes, []] : busiest(nodes, key, max);
  const rows = first.map(({ nodeId, usage, demand, share, reportAgeMs }) => {
    const age = reportAgeMs === null ? '-' : seconds(reportAgeMs);
    return ['', '', nodeId, measured(usage[key]), measured(demand[key]), show(share[key]), '', age];
  });
  const summed = (who: string, all: DirectionStatus['nodes'], share: number | null, of: string) => {
    const sum = (column: 'usage' | 'demand') => measured(sumOf(all.map((node) => node[column][key])));
    return ['', '', who, sum('usage'), sum('demand'), show(share), of, ''];
  };
  const left = others.length === 0 ? [] : [summed(`${others.length} others`, others, sharesOf(others, key), '')];
  const [head, ...below] = [...rows, ...left, summed('Σ', nodes, shareSum[key], show(target[key]))];
  return [['', title, ...(head ?? []).slice(2)], ...below];
}

type Nodes = DirectionStatus['nodes'];

function busiest(nodes: Nodes, key: RateKey, max: number): readonly [first: Nodes, others: Nodes] {
  const sorted = nodes.toSorted((one, other) => (other.demand[key] ?? 0) - (one.demand[key] ?? 0));
  return [sorted.slice(0, max), sorted.slice(max)];
}

function sharesOf(nodes: Nodes, key: RateKey): number | null {
  const shares = nodes.map(({ share }) => share[key]);
  return shares.includes(null) ? null : sumOf(shares);
}

function sumOf(rates: readonly (number | null)[]): number {
  return rates.reduce<number>((total, rate) => total + (rate ?? 0), 0);
}

function count(value: number | null): string {
  if (value === null) return 'unlimited';
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 1 ? 3 : value < 100 ? 1 : 0 });
}

const BYTE_UNITS = ['', ' Ki', ' Mi', ' Gi', ' Ti', ' Pi'];

function bytes(value: number | null): string {
  if (value === null) return 'unlimited';
  let scaled = value;
  let unit = 0;
  while (scaled >= 1024 && unit < BYTE_UNITS.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${count(scaled)}${BYTE_UNITS[unit]}`;
}

function seconds(valueMs: number): string {
  return `${(valueMs / 1000).toFixed(1)} s`;
}

function milliseconds(valueMs: number): string {
  return `${valueMs < 10 ? valueMs.toFixed(1) : Math.round(valueMs)} ms`;
}
