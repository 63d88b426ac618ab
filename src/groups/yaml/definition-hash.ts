import { crc32 } from 'node:zlib';
import { describeGroup } from '../../config/describe/describe-config.js';
import { ALL_PER_SECOND } from '../../config/resolved/rates-as-written.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { isMapping } from '../../input/mapping.js';

/** 8 hexadecimal digits; equal for groups that mean the same, however they are written. About 10 µs. */
export function definitionHash(group: GroupConfig): string {
  return crc32(JSON.stringify(inOrder(describeGroup({ ...group, asWritten: ALL_PER_SECOND, autoSharing: null }))))
    .toString(16)
    .padStart(8, '0');
}

/** Nodes may have written the weights in another order. */
function inOrder(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}
