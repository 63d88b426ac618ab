import type { Timers } from '../../base/ports/clock.js';
import type { LimitsConfig } from '../../config/resolved/resolved-config.js';
import type { JointRequest } from '../../core/limiter/joint-levels.js';
import { REFUSED } from '../../core/limiter/limiter.js';
import type { KeptLanes } from '../strict/strict-lanes.js';
import { Decider, type DeciderParts } from './decide/decider.js';
import { RefusalExplainer, type RefusalExplainerParts } from './decide/explain-refusal.js';
import { QuotaTeller } from './decide/quota-told.js';
import { StrictGate } from './strict/strict-gate.js';
import { Waiting } from './wait/wait-lines.js';

interface Deciders {
  readonly teller: QuotaTeller;
  readonly explainer: RefusalExplainer;
  readonly waiting: Waiting;
  readonly decider: Decider;
  readonly strictGate: StrictGate;
}

type DecidersParts = Omit<DeciderParts, 'waiting' | 'explainer' | 'teller'> &
  Omit<RefusalExplainerParts, 'teller'> & {
    readonly limits: Pick<LimitsConfig, 'maxWaiting'>;
    readonly timers: Timers;
    readonly strict: KeptLanes;
  };

/** Creates lines and decider, which need each other: a line calls the decider only after both stand. */
export function createDeciders(parts: DecidersParts): Deciders {
  const { limiter, clock, timers, shadows, limits } = parts;
  const teller = new QuotaTeller(parts);
  const explainer = new RefusalExplainer({ ...parts, teller });
  const waiting: Waiting = new Waiting({
    limiter,
    clock,
    timers,
    max: limits.maxWaiting,
    decide: (request: JointRequest) => decider.decide(request, clock()),
    decideInPassing: (request: JointRequest) => decider.decideInPassing(request),
    arrived: (request: JointRequest) => shadows.ask(request, REFUSED, clock()),
    explainer,
    teller,
  });
  const decider: Decider = new Decider({ ...parts, waiting, explainer, teller });
  const lanes = parts.strict;
  const strictGate = new StrictGate({
    ...parts,
    lanes,
    teller,
    watch: () => explainer.watch,
    maxWaiting: limits.maxWaiting,
  });
  return { teller, explainer, waiting, decider, strictGate };
}
