import { CLAIM_FACTOR } from '../../base/constants.js';
import { BYTES, DIMENSION_COUNT, MESSAGES } from '../../base/vocabulary.js';

/**
 * Estimates the demand of a spender while it is held back. Admissions do not show it. As for a lane of a node
 * (core/report/sample/estimate.ts), it is
 *
 *     2 × claim,   claim = max(own part, some of limit/n)
 *
 * so it doubles per report until nothing is held back any more. The claim is made in the dimension that is short, and
 * in the other by the weight of a message.
 *
 * Worked: part 60 → demand 120; part 120 → 240. With 1,000 bytes per message and 30,000 bytes/s as the part, claim 30
 * messages → demand 60 and 60,000.
 *
 * @param demand units per second; in: the usage, out: the demand
 */
export function addHiddenDemand(demand: Float64Array, claims: Float64Array): void {
  const messages = demand[MESSAGES];
  const bytes = demand[BYTES];
  if (messages === 0 || bytes === 0) {
    // Without a weight, each used dimension claims by itself, and both where nothing passes.
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if (messages + bytes > 0 && demand[dimension] === 0) continue;
      raise(demand, dimension, CLAIM_FACTOR * claims[dimension]);
    }
    return;
  }
  const weight = bytes / messages;
  const wanted = CLAIM_FACTOR * Math.min(claims[MESSAGES], claims[BYTES] / weight);
  raise(demand, MESSAGES, wanted);
  raise(demand, BYTES, wanted * weight);
}

function raise(demand: Float64Array, dimension: number, wanted: number): void {
  if (Number.isFinite(wanted)) demand[dimension] = Math.max(demand[dimension], wanted);
}
