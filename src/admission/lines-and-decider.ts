import type { JointRequest } from '../core/limiter/joint-levels.js';
import { REFUSED } from '../core/limiter/limiter.js';
import { Decider, type DeciderParts } from './decide/decider.js';
import type { RefusalExplainer } from './decide/explain-refusal.js';
import { Waiting } from './wait/wait-lines.js';

interface LinesAndDecider {
  readonly waiting: Waiting;
  readonly decider: Decider;
}

export interface LinesAndDeciderParts extends Omit<DeciderParts, 'waiting'> {
  readonly explainer: RefusalExplainer;
  /** Most requests that may wait. */
  readonly max: number;
}

/** They need each other: a line asks the decider only after both stand. */
export function linesAndDecider({ max, ...parts }: LinesAndDeciderParts): LinesAndDecider {
  const { limiter, clock, explainer, teller, shadows } = parts;
  const waiting: Waiting = new Waiting({
    limiter,
    clock,
    max,
    decide: (request: JointRequest) => decider.decide(request, clock()),
    decideInPassing: (request: JointRequest) => decider.decideInPassing(request),
    arrived: (request: JointRequest) => shadows.ask(request, REFUSED, clock()),
    explainer,
    teller,
  });
  const decider: Decider = new Decider({ ...parts, waiting });
  return { waiting, decider };
}
