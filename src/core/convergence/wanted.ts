import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { isLimited, type LaneView } from './strategy.js';

/**
 * Computes a node's usable demand from the shares applied now. That is the whole demand in the dimension that binds it
 * (applied ÷ demand smallest), and in the others the part that the binding one allows. Without this a node whose
 * messages are short would hold bytes that it cannot spend.
 *
 * *Worked:* demand 100 messages and 2,000 bytes, applied 50 and 1,500 → it wants 100 messages and 1,000 bytes. Applied
 * 50 and 500: 50 messages would need 1,000 bytes, bytes bind → it wants 2,000 bytes and 25 messages.
 */
export function wantedBy(view: LaneView, at: number, dimension: number): number {
  const demand = view.demand[dimension][at];
  let others = 1;
  for (let other = 0; other < DIMENSION_COUNT; other++) {
    if (other !== dimension) others = Math.min(others, servedPart(view, at, other));
  }
  return servedPart(view, at, dimension) <= others ? demand : demand * others;
}

/** Computes a node's usable demand from the shares just given. What another dimension refuses needs nothing here. */
export function wantedAtShares(view: LaneView, at: number, dimension: number): number {
  let part = 1;
  for (let other = 0; other < DIMENSION_COUNT; other++) {
    const there = view.demand[other][at];
    if (other !== dimension && there > 0) part = Math.min(part, view.share[other][at] / there);
  }
  return part * view.demand[dimension][at];
}

/**
 * Computes a node's use at its applied share. The reported usage is an average that began before the share moved, so it
 * counts only where no applied share is known.
 */
export function usedBy(view: LaneView, at: number, dimension: number, wanted: number): number {
  const applied = view.applied[dimension][at];
  return Math.min(wanted, applied > 0 ? applied : view.usage[dimension][at]);
}

/** Computes the part of demand that the applied share serves. */
function servedPart(view: LaneView, at: number, dimension: number): number {
  const demand = view.demand[dimension][at];
  if (demand === 0 || view.target[dimension] === Infinity) return 1;
  if (!isLimited(view, dimension)) return 0;
  const applied = view.applied[dimension][at];
  return applied > 0 && applied < demand ? applied / demand : 1;
}
