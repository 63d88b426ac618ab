/**
 * Projects of vitest.config.ts that may share a machine of two cores, as so many files at once as they leave it time for. Groups run one
 * after the other, in one vitest that keeps one Kafka for all of them.
 */
export const NPM_TEST = [
  // A third of it waits: for rounds of nodes that are not in virtual time.
  { projects: ['quick'], workers: 5 },
  // Stories measure real time to some per cent, and a cluster under their load takes less than half a core: three of them begin, and what
  // waits for deadlines fills the time that they leave.
  { projects: ['stories', 'outages', 'redis', 'waiting'], workers: 6 },
  // They wait for processes, brokers and deadlines more than half of their time.
  { projects: ['cluster', 'processes', 'kafka'], workers: 5 },
  { projects: ['demo'], workers: 1 },
];

/** `npm run test:long`. */
export const TEST_LONG = [
  { projects: ['long-computing'], workers: 2 },
  { projects: ['long-waiting'], workers: 3 },
  { projects: ['long-stories'], workers: 2 },
  { projects: ['long'], workers: 1 },
  // All of what npm test draws a third of; `quick` is played whole on the newer versions of Node.js.
  { projects: ['processes'], workers: 5 },
];

/** Node 20 is the floor and runs `npm test`; `quick` runs on these, too. */
export const NEWER_NODES = ['22', '24'];

/** What vitest needs to know of the group that a project is in. */
export function groupOf(project) {
  const groups = [...NPM_TEST, ...TEST_LONG];
  const at = groups.findIndex(({ projects }) => projects.includes(project));
  // From 1: vitest has a rule of its own for order 0.
  return { maxWorkers: groups[at].workers, sequence: { groupOrder: at + 1 } };
}
