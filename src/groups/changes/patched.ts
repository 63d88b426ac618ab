import { otherUnitsOf } from '../../config/setting/written-rate.js';
import { isMapping } from '../../input/mapping.js';

/** RFC 7396; a key of a rate takes the place, or takes away, what is there in another unit of time. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch;
  // Without a prototype __proto__ is a setting like any other, which nobody knows, and is refused as such.
  const result: Record<string, unknown> = Object.assign(Object.create(null), isMapping(target) ? target : {});
  for (const key of Object.keys(patch)) for (const other of otherUnitsOf(key)) delete result[other];
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = patched(result[key], value);
  }
  return result;
}
