import { section } from '../setting/section.js';

/** Starts a node while the topic is away (docs/operate/when-the-topic-is-away.md). */
export const START = section({
  policy: {
    kind: 'choice',
    default: 'wait',
    choices: ['wait', 'alone'],
    missedBy: 'deploys during an outage',
    buys: 'alone: a node that starts while the topic is away decides after timing.isolationAfterMs, with quota / the number of nodes known last. A deploy during an outage does not take the service down.',
    costs:
      'Groups of the registry are unknown until the topic comes; nodes that start and nodes that were isolated before may add up to more than the quota.',
  },
  file: {
    kind: 'text',
    default: null,
    defaultText: 'none: nothing is kept',
    missedBy: 'deploys during an outage',
    buys: 'A file of this node alone, relative to this YAML, in which it keeps how many nodes there are.',
    costs: 'A small file written when that number changes. Two nodes must not name the same one.',
  },
  nodeCount: {
    kind: 'count',
    default: null,
    defaultText: 'none: only the file counts',
    min: 1,
    max: 10_000,
    missedBy: 'first starts during an outage',
    buys: 'The number of nodes where the file does not know it yet. Where both know one, the larger one counts.',
    costs: 'Too small a number lets all of them together admit more than the quota; too large a one, less.',
  },
});
