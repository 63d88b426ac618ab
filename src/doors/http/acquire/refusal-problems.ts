import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Dimension, Direction } from '../../../core/base/vocabulary.js';
import type { Level } from '../../../core/limiter/levels.js';
import { type Problem, problemOf, QUOTA_EXCEEDED_TYPE, REDUCED_CAPACITY_TYPE } from '../route/problem.js';

export interface RefusedFacts {
  readonly group: string;
  readonly direction: Direction;
  readonly dimension: Dimension;
}

/** Makes the body of a refusal, but for its `retryAfterMs`. */
export function quotaProblem(policy: string, facts: RefusedFacts, level: Level) {
  const error = new QuotameshError('QUOTA_EXCEEDED', { ...facts, what: WHAT[level] });
  return { ...problemOf(error, QUOTA_EXCEEDED_TYPE), 'violated-policies': [policy], ...facts, level };
}

const WHAT: Readonly<Record<Level, string>> = {
  group: 'quota',
  node: 'limit of the node',
  topic: 'limit of the topic on this node',
  client: 'limit of the client on this node',
};

/** Makes a problem without violated policies: the node cannot decide, or has no room. */
export function capacityProblem(error: QuotameshError, retryAfterMs: number): CapacityProblem {
  return { ...problemOf(error, REDUCED_CAPACITY_TYPE), 'violated-policies': [], retryAfterMs };
}

export interface CapacityProblem extends Problem {
  readonly 'violated-policies': readonly [];
  readonly retryAfterMs: number;
}
