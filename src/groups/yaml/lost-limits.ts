import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { DIMENSIONS, DIRECTIONS } from '../../core/base/vocabulary.js';

/**
 * The limits that a group had before and has not now, as `orders.publish.bytes`. A file that was cut at the end of a
 * line is a valid configuration and cannot be refused, but people should see which limits went with the rest of it.
 */
export function lostLimits(before: GroupConfig | undefined, after: GroupConfig | undefined): string[] {
  if (before === undefined || after === undefined) return [];
  return DIRECTIONS.flatMap((direction) => {
    const lost = DIMENSIONS.filter((_, dimension) => {
      return isLimit(before.quota[direction][dimension]) && !isLimit(after.quota[direction][dimension]);
    });
    return lost.map((dimension) => `${after.name}.${direction}.${dimension}`);
  });
}

function isLimit(rate: number | undefined): boolean {
  return rate !== undefined && rate < Infinity;
}
