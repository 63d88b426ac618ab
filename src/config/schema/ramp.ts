import { RAMP_MODES } from '../../core/base/settings.js';
import { section } from '../setting/section.js';
import { RATE_MAX } from './limits.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Below `ramp` of a group; docs/guide/ramps.md. */
export const RAMP = section({
  fromPerSecond: {
    kind: 'rate',
    default: null,
    defaultText: 'no ramp',
    min: 0,
    max: RATE_MAX,
    missedBy: 'Numaflow’s starts',
    buys: 'A cold start, or a start after a long pause, admits no more than this many messages per second at first.',
    costs: 'Refused work until the ramp has reached the demand. Unused directions and bytes do not ramp.',
  },
  toPerSecond: {
    kind: 'rate',
    default: null,
    defaultText: 'the messagesPerSecond of the quota',
    min: 0,
    max: RATE_MAX,
    missedBy: 'costs alone',
    buys: 'Where the ramp ends, if not at the quota; needed where only cost has a quota.',
    costs: 'Below the quota: the rest of it is never used.',
  },
  overMs: {
    kind: 'duration',
    default: 10_000,
    min: 1000,
    max: 30 * DAY_MS,
    missedBy: 'Numaflow’s starts',
    buys: 'A gentler start: from the one to the other in this time. Levels move once a second.',
    costs:
      'Longer refusals. While a ramp climbs, the topic carries a hundred small records per climb beside its steps.',
  },
  mode: {
    kind: 'choice',
    default: 'relaxed',
    choices: RAMP_MODES,
    missedBy: 'Numaflow’s modes',
    buys:
      'What makes it climb. relaxed: a second with traffic; scheduled: time alone; only-if-used: a second in which ' +
      'enough of the ceiling was used; go-back-n: the same, and down again while less is used or nothing at all.',
    costs:
      'relaxed and scheduled offer the top to whoever comes with a burst; only-if-used and go-back-n refuse such a ' +
      'burst and climb behind it.',
  },
  thresholdRatio: {
    kind: 'ratio',
    default: 0.5,
    min: 0,
    max: 1,
    missedBy: 'Numaflow’s only-if-used',
    buys: 'only-if-used and go-back-n: a second counts as used only from this part of the ceiling on.',
    costs: 'Too high, and demand that is steady but below it never climbs.',
  },
});
