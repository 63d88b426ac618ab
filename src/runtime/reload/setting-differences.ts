import { isDeepStrictEqual } from 'node:util';
import type { ResolvedConfig } from '../../config/resolved-config.js';
import { isMapping } from '../../mapping.js';

/** Settings that two configurations have differently, but for groups, attachments and topic.nodeCount: `timing.heartbeatMs`. Values are not told: secrets. */
export function settingDifferences(one: ResolvedConfig, other: ResolvedConfig): readonly string[] {
  const { groups: _, attachments: _places, source: _from, nodeId: node, ...rest } = one;
  const { groups: _others, attachments: _otherPlaces, source: _otherFrom, nodeId: otherNode, ...others } = other;
  // The count of nodes without a topic is a part of every group (build-config.ts).
  return differences({ node, ...rest }, { node: otherNode, ...others }, '').filter(
    (path) => path !== 'topic.nodeCount',
  );
}

function differences(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isMapping(one) || !isMapping(other)) return [path];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`));
}
