/**
 * Projects of vitest.config.ts that may share a machine of two cores, as so many files at once as they leave it time for. Groups run one
 * after the other, in one vitest that keeps one Kafka for all of them.
 */
export const NPM_TEST = [
  // Every worker compiles and optimizes the same code anew: a third one would cost more than the little that two leave.
  { projects: ['quick'], workers: 2 },
  // Stories measure real time to some per cent, and a cluster under their load takes less than half a core: three of them begin, and what
  // waits for deadlines fills the time that they leave.
  { projects: ['stories'], workers: 6 },
  // They wait for processes, brokers and deadlines three quarters of their time. The longest are processes: they begin.
  { projects: ['memory', 'processes', 'quick-waiting'], workers: 6 },
  { projects: ['demo'], workers: 1 },
];

/** `npm run test:long`. */
export const TEST_LONG = [
  { projects: ['long-computing'], workers: 2 },
  { projects: ['long-waiting'], workers: 3 },
  { projects: ['long-stories'], workers: 2 },
  { projects: ['long'], workers: 1 },
  // All of what npm test draws a sixth of; what needs only Node.js is played whole on its newer versions.
  { projects: ['processes'], workers: 5 },
];

/** Projects that need nothing but Node.js: what the newer versions of it run. */
export const ON_NEWER_NODES = ['quick', 'quick-waiting', 'memory'];
/** Node 20 is the floor and runs `npm test`; what needs nothing else runs on these, too. */
export const NEWER_NODES = ['22', '24'];

const groups = [...NPM_TEST, ...TEST_LONG];
/** All projects, in the order in which their files begin. */
export const PROJECTS = groups.flatMap(({ projects }) => projects);

/** What vitest needs to know of the group that a project is in. */
export function groupOf(project) {
  const at = groups.findIndex(({ projects }) => projects.includes(project));
  // From 1: vitest has a rule of its own for order 0.
  return { maxWorkers: groups[at].workers, sequence: { groupOrder: at + 1 } };
}
