import { crc32 } from 'node:zlib';
import { isMapping } from '../../../base/input/mapping.js';
import { describeGroupConfig, describeTemplate } from '../../../config/describe/describe-config.js';
import { ALL_PER_SECOND } from '../../../config/resolved/rates-as-written.js';
import type { GroupConfig, KeyTemplate } from '../../../config/resolved/resolved-config.js';

/** Returns 8 hexadecimal digits, equal for equal meaning; about 10 µs. */
export function definitionHash(group: GroupConfig): string {
  return hashOf(describeGroupConfig(plain(group)));
}

/** Returns a template's, with its overrides. */
export function templateHash(template: KeyTemplate): string {
  const { group, overrides, allowLimits } = template;
  return hashOf(
    describeTemplate({
      ...template,
      group: plain(group),
      overrides: overrides.map(plain).sort((one, other) => (one.name < other.name ? -1 : 1)),
      allowLimits: allowLimits && { ...allowLimits, asWritten: ALL_PER_SECOND },
    }),
  );
}

/** Drops the units in which rates are written. */
function plain(group: GroupConfig): GroupConfig {
  return { ...group, asWritten: ALL_PER_SECOND };
}

function hashOf(described: unknown): string {
  return crc32(JSON.stringify(inOrder(described)))
    .toString(16)
    .padStart(8, '0');
}

/** Sorts keys: nodes may write weights in another order. */
function inOrder(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}
