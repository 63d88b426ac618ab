import { isMapping } from '../mapping.js';
import { type ReadValue, readValue, valueAt } from './setting-value.js';
import type { SettingRows } from './settings.js';

/**
 * The valid settings of a section, key by key: the first layer that has the key wins, then the default of the table.
 * `null` in a layer, for the key or for a mapping around it, hides the layers below: the default again.
 * A key whose value is a mistake is absent from the result; setting-schema.ts has reported it.
 */
export function readRows(rows: SettingRows, layers: readonly unknown[]): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [key, setting] of Object.entries(rows)) {
    const given = setting.kind === 'weights' ? mergedMapping(layers, key) : firstGiven(layers, key);
    const read: ReadValue = given === undefined ? { value: setting.default, problems: [] } : readValue(setting, given);
    if (read.problems.length === 0) values.set(key, read.value);
  }
  return values;
}

function firstGiven(layers: readonly unknown[], key: string): unknown {
  for (const layer of layers) {
    const given = valueAt(layer, key);
    if (given === null) return undefined;
    if (given !== undefined) return given;
  }
  return undefined;
}

function mergedMapping(layers: readonly unknown[], key: string): unknown {
  let merged: Record<string, unknown> | undefined;
  for (const layer of layers) {
    const given = valueAt(layer, key);
    if (given === null) break;
    if (given === undefined) continue;
    if (!isMapping(given)) return given;
    merged = { ...given, ...merged };
  }
  return merged;
}
