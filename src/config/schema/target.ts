import { LIMITING_MODES, LIMITING_SPLITS } from '../../core/base/settings.js';
import { section } from '../setting/section.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How backends' health lowers targets. */
export const LIMITING = section({
  mode: {
    kind: 'choice',
    default: 'enforce',
    choices: LIMITING_MODES,
    buys: 'report-only computes and shows what cost quotas and backends would do, and enforces neither: a dry run.',
    costs: 'In report-only, saturated backends are left alone. All nodes must be configured alike.',
  },
  split: {
    kind: 'choice',
    default: 'by-usage',
    choices: LIMITING_SPLITS,
    buys: 'How a saturated backend is divided: by-usage all its groups do the same part less; by-quota moves to the quotas.',
    costs:
      'by-quota lets a group with a huge quota win, and computes all groups of a saturated backend again and again.',
  },
  zonesLeftOut: {
    kind: 'count',
    default: 1,
    min: 0,
    max: 1000,
    buys: 'This many of the worst zones limit nobody: a zone that is unhealthy alone is no sign of too much work.',
    costs: 'That zone is not relieved. The last zone a group works in is never left out.',
  },
  contributionRatio: {
    kind: 'ratio',
    default: 0.01,
    min: 0,
    max: 1,
    buys: 'A backend that carries less than this part of a group’s cost does not limit the group.',
    costs: 'Many groups with small parts can saturate a backend together.',
  },
  healthValidMs: {
    kind: 'duration',
    default: 10_000,
    min: 500,
    max: HOUR_MS,
    buys: 'Patience with a sensor that is late: the last good word on a backend holds for this much log time.',
    costs: 'A backend that has recovered unheard limits its groups for as long. Afterwards nothing is limited for it.',
  },
  levelSmoothingMs: {
    kind: 'duration',
    default: 1000,
    min: 0,
    max: MINUTE_MS,
    buys: 'Steadier targets where single pieces of work move a queue: levels are followed with this time constant.',
    costs: 'Saturation and recovery are seen later by about as much, and queues swing longer above some 2 s.',
  },
  maxBackends: {
    kind: 'count',
    default: 256,
    min: 1,
    max: 10_000,
    buys: 'More backends with known health in the cluster. One more is refused by name, and counted.',
    costs: 'A flood of invented names takes as much memory and topic. All nodes must be configured alike.',
  },
});

/** What is kept of costs, and how bytes become cost units. */
export const COSTS = section({
  smoothingMs: {
    kind: 'duration',
    default: 10_000,
    min: 1000,
    max: 10 * MINUTE_MS,
    buys: 'Steadier average costs, hence fewer reports; rates follow in half of it.',
    costs: 'Changes of the average cost are followed later, and queues of saturated backends swing longer.',
  },
  forgetAfterMs: {
    kind: 'duration',
    default: 240_000,
    min: 1000,
    max: 24 * HOUR_MS,
    buys: 'A group that pauses finds its average cost again.',
    costs: 'Memory for groups that are gone.',
  },
  maxLanes: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    buys: 'Costs of more groups at a time, per node and direction. One more is refused by name, never silently unlimited.',
    costs: 'About 1 KB each.',
  },
  sampleUnits: {
    kind: 'count',
    default: 0,
    min: 0,
    max: 1_000_000_000,
    buys: 'A tenth less CPU per cost: below this many units costs count with a probability by their size. 0 counts all.',
    costs:
      'Counted costs of a lane are up to this many units off, and its rate up to twice that per smoothingMs; groups that cost little are steered coarsely.',
  },
  readPageBytes: {
    kind: 'bytes',
    default: 4096,
    min: 1,
    max: 2 ** 40,
    buys: 'Cheaper reads: this many bytes read cost one unit, and every read costs at least one.',
    costs: 'The same quota admits more bytes.',
  },
  writePageBytes: {
    kind: 'bytes',
    default: 4096,
    min: 1,
    max: 2 ** 40,
    buys: 'Cheaper writes: this many bytes written or cleared cost writeFactor units, and every write at least as much.',
    costs: 'The same quota admits more bytes.',
  },
  writeFactor: {
    kind: 'factor',
    default: 4,
    min: 0.001,
    max: 1e6,
    buys: 'What a page written costs, in pages read.',
    costs: 'Less room for writes in the same quota.',
  },
});
