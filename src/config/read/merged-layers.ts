import { isMapping } from '../../base/input/mapping.js';

/**
 * One layer over another, key by key, however deep: the upper one wins where it says something. `null` in it, for a key
 * or for a mapping around it, hides what is below: the default again.
 */
export function mergedLayers(upper: unknown, lower: unknown): unknown {
  if (upper === undefined) return lower;
  if (!isMapping(upper) || !isMapping(lower)) return upper;
  const merged: Record<string, unknown> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
    // Defining keeps `__proto__`, which YAML may hold, a key like others.
    Object.defineProperty(merged, key, {
      value: mergedLayers(value, below),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}
