import type { Effects } from '../base/protocol/events-and-effects.js';
import { windowMsOf } from '../base/settings.js';
import { DIMENSION_COUNT, slotOf } from '../base/vocabulary.js';
import type { Limiter } from '../limiter/limiter.js';
import type { Coordinator } from './coordinator.js';

/** Performs the effects that concern the limiter; runtime and simulator share it. */
export function enforce(effects: Effects, coordinator: Coordinator, limiter: Limiter, nowMs: number): void {
  for (const lane of effects.unservedLanes) limiter.validUntilMs.set(lane, -Infinity);
  // A lane may have had no limits before, which its share does not show: so its limits are always set.
  for (const lane of effects.servedLanes) setLimits(lane, coordinator, limiter, nowMs);
  for (const lane of effects.changedLanes) setLimits(lane, coordinator, limiter, nowMs);
  for (const lane of effects.emptiedLanes) limiter.buckets.empty(lane, nowMs);
  const servedUntilMs = nowMs + coordinator.settings.shareValidMs;
  for (const lane of effects.servedLanes) limiter.validUntilMs.set(lane, servedUntilMs);
  if (effects.confirmUntilMs === null) return;
  for (const lane of coordinator.lanes.keys()) limiter.validUntilMs.set(lane, effects.confirmUntilMs);
}

function setLimits(lane: number, { lanes, shares }: Coordinator, limiter: Limiter, nowMs: number): void {
  const { applied, depth } = shares;
  const state = lanes.get(lane);
  if (state !== undefined) limiter.buckets.setWindow(lane, windowMsOf(state.settings), nowMs);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const tokens = state?.isLimitedByTokens === true ? state.tokens?.slots[dimension] : undefined;
    const slot = slotOf(lane, dimension);
    if (tokens !== undefined && tokens.bucket !== null) limiter.follow(lane, dimension, tokens, nowMs);
    else limiter.setLimit(lane, dimension, applied[slot], depth[slot], nowMs);
  }
}
