import { LIMITING_MODES, LIMITING_SPLITS } from '../../core/base/settings.js';
import { section } from '../setting/section.js';

/** Lowers targets by the health of backends. */
export const LIMITING = section({
  mode: {
    kind: 'choice',
    default: 'enforce',
    choices: LIMITING_MODES,
    missedBy: 'introductions (FoundationDB)',
    buys: 'report-only computes and shows what cost quotas and backends would do, and enforces neither: a dry run.',
    costs: 'In report-only, saturated backends are left alone. All nodes must be configured alike.',
  },
  split: {
    kind: 'choice',
    default: 'by-usage',
    choices: LIMITING_SPLITS,
    missedBy: 'FoundationDB’s two ways',
    buys: 'The division of a saturated backend: with by-usage all its groups do the same part less; by-quota moves to the quotas.',
    costs:
      'by-quota lets a group with a huge quota win, and computes all groups of a saturated backend again and again.',
  },
  zonesLeftOut: {
    kind: 'count',
    default: 1,
    min: 0,
    max: 1000,
    missedBy: 'more or fewer replicas (FoundationDB)',
    buys: 'This many of the worst zones limit nobody: a zone that is unhealthy alone is no sign of too much work.',
    costs: 'That zone is not relieved. The last zone a group works in is never left out.',
  },
});

/** Counts costs, and makes cost units of bytes. */
export const COSTS = section({
  sampleUnits: {
    kind: 'count',
    default: 0,
    min: 0,
    max: 1_000_000_000,
    missedBy: 'FoundationDB’s sampling of costs',
    buys: 'A tenth less CPU per cost: below this many units costs count with a probability by their size. 0 counts all.',
    costs:
      'Counted costs of a lane are up to this many units off, and its rate up to twice that per smoothingMs; groups that cost little are steered coarsely.',
  },
});
