import { section } from '../setting/section.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const TIMING = section({
  heartbeatMs: {
    kind: 'duration',
    default: 1000,
    min: 50,
    max: MINUTE_MS,
    missedBy: 'large clusters',
    buys: 'Fewer records: an idle node appends one NODE record per heartbeat, which wakes every reader.',
    costs: 'A dead node is noticed later, because stalenessMs must stay at least three heartbeats.',
  },
  stalenessMs: {
    kind: 'duration',
    default: 5000,
    min: 150,
    max: HOUR_MS,
    missedBy: 'machines that pause',
    buys: 'Patience: a node that pauses (garbage collection, a slow disk, a network blip) keeps its share.',
    costs: 'The share of a node that died stays unused for this much log time.',
  },
  reportGapMs: {
    kind: 'duration',
    default: 50,
    min: 1,
    max: MINUTE_MS,
    missedBy: 'large clusters, fast quotas (PIP-82)',
    buys: 'Fewer records while there is something new to report: at most one per bucket of groups in this time.',
    costs: 'Shares follow a change later, and over-admission after a change lasts as much longer.',
  },
  noiseFactor: {
    kind: 'factor',
    default: 5,
    min: 0,
    max: 20,
    missedBy: 'demand that moves all the time',
    buys:
      'Fewer reports of mere chance: a change has to be this many standard deviations ' +
      'of the arrivals. Of steady traffic one look in a million is above 5, one in twenty above 2.',
    costs: 'Small groups of this kind react later; 0 switches the noise rule off.',
  },
});
