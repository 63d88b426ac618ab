import type { RateStatus } from '../../api/node-status.js';
import { describeGroup as definitionOf } from '../../config/describe/describe-config.js';
import { examineGroup } from '../../config/read/group-definition.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { groupIdOf } from '../../core/base/ids.js';
import { BYTES, DIRECTIONS, type Direction, MESSAGES, type Rates } from '../../core/base/vocabulary.js';
import type { GroupDefinition } from '../../core/registry/registry-record.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { QuotaNode } from '../../node/quota-node.js';
import { rejectInUse } from './attaching.js';
import { checkedDefinition, expectRevision, mergedDefinition } from './change-group.js';
import type { Expected } from './registry-of.js';

/** What a change would do; nothing is changed, and the log is not asked. */
export interface ChangePreview {
  readonly group: string;
  readonly dryRun: true;
  /** As YAML would write it after the change; null = there would be no such group. */
  readonly definition: GroupDefinition | null;
  readonly before: GroupPreview | null;
  readonly after: GroupPreview | null;
}

export type GroupPreview = Readonly<Record<Direction, DirectionPreview>>;

export interface DirectionPreview {
  readonly quota: RateStatus;
  readonly target: RateStatus;
  readonly nodes: readonly { readonly nodeId: string; readonly demand: RateStatus; readonly share: RateStatus }[];
}

/**
 * As PUT, with every check of it. Shares are those that the last reports give; strategies that move in steps are shown
 * after their first one.
 */
export function previewPut(node: QuotaNode, name: string, written: unknown, expected: Expected): ChangePreview {
  const definition = checkedDefinition(node, name, written);
  return preview(node, name, expected, examineGroup(name, definition, 'request').config, definition);
}

/** As PATCH. */
export function previewPatch(node: QuotaNode, name: string, patch: GroupDefinition, expected: Expected): ChangePreview {
  return previewPut(node, name, mergedDefinition(node, name, patch), expected);
}

/** As DELETE: the group of YAML comes back, if there is one. */
export function previewDelete(node: QuotaNode, name: string, expected: Expected, force = false): ChangePreview {
  const { config, groups, registry, yaml } = node;
  if (!groups.numbers.has(name)) return node.gate.unknownGroup(name);
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  if (registry.stateOf(name).definition === null) {
    throw new QuotameshError('GROUP_FROM_YAML', { group: name, source: config.source });
  }
  const left = yaml.get(name) ?? null;
  if (left === null) rejectInUse(node, name, force);
  return preview(node, name, expected, left, left === null ? null : definitionOf(left));
}

function preview(
  node: QuotaNode,
  name: string,
  expected: Expected,
  after: GroupConfig | null,
  definition: GroupDefinition | null,
): ChangePreview {
  expectRevision(node, name, expected);
  const number = node.groups.numbers.get(name);
  const before = number === undefined ? null : node.groups.at(number);
  return {
    group: name,
    dryRun: true,
    definition,
    before: before === null ? null : sharesOf(node, before),
    after: after === null ? null : sharesOf(node, after),
  };
}

function sharesOf(node: QuotaNode, config: GroupConfig): GroupPreview {
  const [publish, dispatch] = DIRECTIONS.map((direction, at) => directionOf(node, config, direction, at));
  return { publish: publish as DirectionPreview, dispatch: dispatch as DirectionPreview };
}

function directionOf(node: QuotaNode, config: GroupConfig, direction: Direction, at: number): DirectionPreview {
  const { coordinator } = node;
  const quota = rates(config.quota[direction]);
  if (coordinator === null) return { quota, target: quota, nodes: [] };
  const mapLane = coordinator.usageMap.mapLaneOf(groupIdOf(coordinator.settings.cluster, config.name), at);
  const { target, demand, share } = coordinator.shares.convergeAs(config, at, mapLane);
  const column = (columns: readonly Float64Array[], node: number) => {
    return rates([columns[MESSAGES]?.[node] ?? 0, columns[BYTES]?.[node] ?? 0]);
  };
  return {
    quota,
    target: rates([target[MESSAGES] ?? 0, target[BYTES] ?? 0]),
    nodes: coordinator.membership.alive
      .map(({ nodeId }, position) => ({ nodeId, demand: column(demand, position), share: column(share, position) }))
      .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
  };
}

function rates([messages, bytes]: Rates): RateStatus {
  const finite = (rate: number) => (Number.isFinite(rate) ? rate : null);
  return { messagesPerSecond: finite(messages), bytesPerSecond: finite(bytes) };
}
