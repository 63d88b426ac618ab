import { isMapping } from '../../input/mapping.js';
import type { Setting } from '../setting/setting.js';
import { readValue, valueBelow } from '../setting/setting-value.js';
import type { SettingRows } from './all-settings.js';

/**
 * The valid settings of a section, key by key: the first layer that has the key wins, then the default of the table.
 * `null` in a layer, for the key or for a mapping around it, hides the layers below: the default again.
 * A key whose value is a mistake is absent from the result; setting-schema.ts has reported it.
 */
export function readRows(rows: SettingRows, layers: readonly unknown[]): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const { key, parts, setting } of splitRows(rows)) {
    const given = setting.kind === 'weights' ? mergedMapping(layers, parts) : firstGiven(layers, parts);
    if (given === undefined) {
      values.set(key, setting.default);
      continue;
    }
    const read = readValue(setting, given);
    if (read.problems.length === 0) values.set(key, read.value);
  }
  return values;
}

interface SplitRow {
  readonly key: string;
  readonly parts: readonly string[];
  readonly setting: Setting;
}

/** Split once: a node that starts reads the same rows for each of 10,000 groups, and splitting was most of the time. */
function splitRows(rows: SettingRows): readonly SplitRow[] {
  let split = SPLIT.get(rows);
  if (split === undefined) {
    split = Object.entries(rows).map(([key, setting]) => ({ key, parts: key.split('.'), setting }));
    SPLIT.set(rows, split);
  }
  return split;
}

const SPLIT = new WeakMap<SettingRows, readonly SplitRow[]>();

function firstGiven(layers: readonly unknown[], parts: readonly string[]): unknown {
  for (const layer of layers) {
    const given = valueBelow(layer, parts);
    if (given === null) return undefined;
    if (given !== undefined) return given;
  }
  return undefined;
}

function mergedMapping(layers: readonly unknown[], parts: readonly string[]): unknown {
  let merged: Record<string, unknown> | undefined;
  for (const layer of layers) {
    const given = valueBelow(layer, parts);
    if (given === null) break;
    if (given === undefined) continue;
    if (!isMapping(given)) return given;
    merged = { ...given, ...merged };
  }
  return merged;
}
