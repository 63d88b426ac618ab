import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { describeGroupConfig as definitionOf, describeQuota } from '../../../config/describe/describe-config.js';
import { examineGroup } from '../../../config/read/group-definition.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { groupIdOf } from '../../../core/base/ids.js';
import { shownRates } from '../../../core/base/shown-rates.js';
import { BYTES, DIRECTIONS, type Direction, MESSAGES } from '../../../core/base/vocabulary.js';
import type { GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import type { ChangePreview, DirectionPreview, GroupPreview } from '../../api/change-answers.js';
import { rejectInUse } from './attaching.js';
import { checkedDefinition, expectRevision, mergedDefinition } from './change-group.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';
import { warningsOf } from './change-warnings.js';

/** Previews a PUT, with all checks. Shares follow from the last reports; strategies with steps show their first. */
export function previewPut(parts: ChangeParts, name: string, written: unknown, expected: Expected): ChangePreview {
  const definition = checkedDefinition(parts, name, written);
  return preview(parts, name, expected, examineGroup(name, definition, 'request').config, definition);
}

export function previewPatch(
  parts: ChangeParts,
  name: string,
  patch: GroupDefinition,
  expected: Expected,
): ChangePreview {
  return previewPut(parts, name, mergedDefinition(parts, name, patch), expected);
}

/** Previews a DELETE: YAML's group comes back, if any. */
export function previewDelete(parts: ChangeParts, name: string, expected: Expected, force = false): ChangePreview {
  const { config, groups, yaml } = parts;
  if (!groups.numbers.has(name)) return parts.gate.unknownGroup(name);
  if (registryOf(parts).stateOf(name).definition === null) {
    throw new QuotameshError('FROM_YAML', { what: `group ${name}`, source: config.source });
  }
  const left = yaml.get(name) ?? null;
  if (left === null) rejectInUse(parts, name, force);
  return preview(parts, name, expected, left, left === null ? null : definitionOf(left));
}

function preview(
  parts: ChangeParts,
  name: string,
  expected: Expected,
  after: GroupConfig | null,
  definition: GroupDefinition | null,
): ChangePreview {
  expectRevision(parts, name, expected);
  const number = parts.groups.numbers.get(name);
  const before = number === undefined ? null : parts.groups.at(number);
  return {
    group: name,
    dryRun: true,
    definition,
    before: before === null ? null : sharesOf(parts, before),
    after: after === null ? null : sharesOf(parts, after),
    warnings: warningsOf(before && definitionOf(before), definition),
  };
}

function sharesOf(parts: ChangeParts, config: GroupConfig): GroupPreview {
  const [publish, dispatch] = DIRECTIONS.map((direction, at) => directionOf(parts, config, direction, at));
  return { publish, dispatch };
}

function directionOf(parts: ChangeParts, config: GroupConfig, direction: Direction, at: number): DirectionPreview {
  const { coordinator } = parts.loop;
  const quota = shownRates(config.quota[direction]);
  const quotaAsWritten = describeQuota(config, direction);
  if (coordinator === null) return { quota, quotaAsWritten, target: quota, nodes: [] };
  const groupId = groupIdOf(coordinator.settings.cluster, config.name);
  const { target, demand, share } = coordinator.shares.convergeAs(config, coordinator.laneOf(groupId, at));
  const column = (columns: readonly Float64Array[], node: number) => {
    return shownRates([columns[MESSAGES]?.[node] ?? 0, columns[BYTES]?.[node] ?? 0]);
  };
  return {
    quota,
    quotaAsWritten,
    target: shownRates([target[MESSAGES] ?? 0, target[BYTES] ?? 0]),
    nodes: coordinator
      .aliveFor(groupId)
      .members.map(({ nodeId }, index) => ({ nodeId, demand: column(demand, index), share: column(share, index) }))
      .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
  };
}
