import type { StrictLaneState } from '../api/node-status.js';

type Doubt = Exclude<StrictLaneState, 'kept'>;

/** Says for people why a node cannot know what it may spend. @param of nodes, or the reason of the topic */
export function doubtText(doubt: Doubt, of: string): string {
  return DOUBT_TEXTS[doubt].replace('{}', () => of);
}

/** Texts of the reasons; {} = nodes, or the reason of the topic. */
const DOUBT_TEXTS: Readonly<Record<Doubt, string>> = {
  'topic-lost': 'the log of strict groups is away: {}',
  'topic-unsafe': 'the topic may lose what was granted: {}',
  learning: 'the strict bucket is being learnt; if no node knows it, it begins anew after 5 s of silence',
  'others-relaxed': 'other nodes keep this group relaxed: {}',
  'echo-missing': 'the own record has not come back from the log for a second',
  'clock-unsure': 'the time of the log is not known until the next own record comes back',
  'between-periods': 'the period is over by the clock of the log, and the next has not begun',
};
