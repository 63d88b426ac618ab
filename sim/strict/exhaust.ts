import { createHash } from 'node:crypto';
import type { StrictWallet } from '../../src/core/strict/strict-wallet.js';
import { type SmallBounds, SmallWorld } from './small-world.js';

export interface Exhausted {
  readonly states: number;
  /** Actions of the longest worlds that were played. */
  readonly depth: number;
  /** True = every order of actions up to `depth` was played; false = the bound of states came first. */
  readonly isWhole: boolean;
  readonly broken: { readonly says: string; readonly actions: readonly string[] } | null;
}

interface Reached {
  readonly action: string;
  readonly from: Reached | null;
}

/**
 * Plays every order of actions, breadth first, each state once. A world that is broken is the shortest
 * there is.
 *
 * @param onWallet is given each wallet, to put a fault into it that must be found
 */
export function exhaust(
  bounds: SmallBounds,
  depthMost: number,
  statesMost: number,
  onWallet?: (wallet: StrictWallet) => void,
): Exhausted {
  const seen = new Set<string>([hashOf(worldAt(null))]);
  let level: (Reached | null)[] = [null];
  for (let depth = 1; depth <= depthMost; depth++) {
    const next: Reached[] = [];
    for (const from of level) {
      for (const action of worldAt(from).actions) {
        const reached = { action, from };
        const world = worldAt(reached);
        if (world.broken !== null) {
          return { states: seen.size, depth, isWhole: false, broken: { says: world.broken, actions: pathOf(reached) } };
        }
        const hash = hashOf(world);
        if (seen.has(hash)) continue;
        seen.add(hash);
        next.push(reached);
      }
      if (seen.size >= statesMost) return { states: seen.size, depth: depth - 1, isWhole: false, broken: null };
    }
    level = next;
  }
  return { states: seen.size, depth: depthMost, isWhole: true, broken: null };

  function worldAt(reached: Reached | null): SmallWorld {
    const world = new SmallWorld(bounds, onWallet);
    for (const action of pathOf(reached)) world.act(action);
    return world;
  }
}

function pathOf(reached: Reached | null): string[] {
  const actions: string[] = [];
  for (let at = reached; at !== null; at = at.from) actions.push(at.action);
  return actions.reverse();
}

function hashOf(world: SmallWorld): string {
  return createHash('sha256').update(world.hash).digest('base64').slice(0, 22);
}

const NOTHING: SmallBounds = { losses: 0, repeats: 0, crashes: 0, changes: 0, expiries: 0, epochs: 0 };

/** Small worlds by what may go wrong in them. */
export const SMALL_WORLDS: Readonly<Record<string, SmallBounds>> = {
  'orders alone': NOTHING,
  'records lost, late and repeated': { ...NOTHING, losses: 1, repeats: 1 },
  'crash, restart and expiry': { ...NOTHING, crashes: 1, expiries: 1 },
  'quota lowered and raised': { ...NOTHING, changes: 2 },
  'frozen past expiry': { ...NOTHING, expiries: 2 },
  'bucket begun anew': { ...NOTHING, crashes: 1, expiries: 1, epochs: 1 },
  'all of them': { losses: 1, repeats: 1, crashes: 1, changes: 1, expiries: 1, epochs: 1 },
};
