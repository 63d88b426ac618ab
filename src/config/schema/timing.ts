import { section } from '../setting/section.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const TIMING = section({
  heartbeatMs: {
    kind: 'duration',
    default: 1000,
    min: 50,
    max: MINUTE_MS,
    buys: 'Fewer records: an idle node appends one NODE record per heartbeat, which wakes every reader.',
    costs: 'A dead node is noticed later, because stalenessMs must stay at least three heartbeats.',
  },
  partitionHeartbeatMs: {
    kind: 'duration',
    default: 5000,
    min: 50,
    max: HOUR_MS,
    buys: 'Less traffic on partitions but the first: 100 nodes × 16 partitions each second would be 8 MB a minute.',
    costs: 'The loss of a single partition leader is noticed later.',
  },
  stalenessMs: {
    kind: 'duration',
    default: 5000,
    min: 150,
    max: HOUR_MS,
    buys: 'Patience: a node that pauses (garbage collection, a slow disk, a network blip) keeps its share.',
    costs: 'The share of a node that died stays unused for this much log time.',
  },
  reportGapMs: {
    kind: 'duration',
    default: 50,
    min: 1,
    max: MINUTE_MS,
    buys: 'Fewer records while there is something new to report: at most one per bucket of groups in this time.',
    costs: 'Shares follow a change later, and over-admission after a change lasts as much longer.',
  },
  maxReportsPerSecond: {
    kind: 'count',
    default: 2000,
    min: 1,
    max: 1_000_000,
    buys:
      'Exactness while very many groups are near their quotas: a node writes so many reports per second at most, over ' +
      'all its groups; about 9,000 of them short of their quotas need as many. There is always a bound.',
    costs:
      'Records: every node reads those of all nodes. Reports that are held back wait, the largest deviation first, and ' +
      'their groups take nothing from the bucket of the cluster meanwhile, only what is expected of them.',
  },
  forcedReportMs: {
    kind: 'duration',
    default: 5 * MINUTE_MS,
    min: 1000,
    max: 24 * HOUR_MS,
    buys: 'Less traffic from unchanged groups: what was reported of each is written again once in this time, spread out.',
    costs:
      'A report lost without a trace is repaired later. It is no sign of life: silence of a group means "unchanged".',
  },
  significantChangeRatio: {
    kind: 'ratio',
    default: 0.1,
    min: 0,
    max: 1,
    buys:
      'Fewer reports: changes of usage and demand below this part of the value reported last wait for the forced ' +
      'report. What a group’s bucket has to know is reported at once (docs/guide/how-it-works.md).',
    costs: 'Usage and demand are shown that are wrong by up to this much, and shares rest on them.',
  },
  noiseFactor: {
    kind: 'factor',
    default: 5,
    min: 0,
    max: 20,
    buys:
      'Fewer reports of mere chance: a change has to be this many standard deviations ' +
      'of the arrivals. Of steady traffic one look in a million is above 5, one in twenty above 2.',
    costs: 'Small groups of this kind react later; 0 switches the noise rule off.',
  },
  fastSpanMs: {
    kind: 'duration',
    default: 50,
    min: 2,
    max: MINUTE_MS,
    buys: 'Steadier figures when demand jumps.',
    costs: 'A jump is seen later: this is the span that reacts first.',
  },
  slowSpanMs: {
    kind: 'duration',
    default: 5000,
    min: 10,
    max: 10 * MINUTE_MS,
    buys: 'Steadier figures, hence fewer reports, while demand is steady.',
    costs: 'Slow drifts are followed with half this delay.',
  },
  isolationAfterMs: {
    kind: 'duration',
    default: 3000,
    min: 100,
    max: HOUR_MS,
    buys: 'Patience with a slow topic before the isolation policy of the groups begins.',
    costs: 'A node that is cut off goes on with a share that the others may soon take.',
  },
  shareValidMs: {
    kind: 'duration',
    default: 4000,
    min: 50,
    max: HOUR_MS,
    buys: 'Long pauses of the event loop pass without refusals.',
    costs:
      'A process that slept admits by its old share for as long; it must be over before the others take that share.',
  },
  forgetAfterMs: {
    kind: 'duration',
    default: 10 * MINUTE_MS,
    min: 300,
    max: 7 * 24 * HOUR_MS,
    buys: 'A node that returns finds its old incarnation in the topic.',
    costs: 'Records of nodes gone for good take space, and time at every start, for longer. Shares are not affected.',
  },
  groupsPerRecord: {
    kind: 'count',
    default: 6,
    min: 1,
    max: 64,
    buys: 'Fewer keys and less overhead per record.',
    costs:
      'One changed group re-sends its whole bucket. At 100 nodes × 5,000 groups and few changes 4 to 8 read 5.3 MB ' +
      'per node and minute, 80 read 12 MB. All nodes of a cluster should agree.',
  },
});
