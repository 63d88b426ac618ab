/**
 * Runs of the real core in virtual time, for docs/guide/strategies.md: one story, every strategy and wrapper. Even arrivals
 * and one seed, so that the same source gives the same bytes.
 */
export const QUOTA = 1000;
export const DURATION_MS = 14_000;
const RISE_MS = 3000;
const FALL_MS = 9000;

/** What each node wants, per second, from a time on. */
export const STORY = {
  a: [
    [0, 800],
    [RISE_MS, 2000],
    [FALL_MS, 300],
  ],
  b: [
    [0, 150],
    [RISE_MS, 2000],
  ],
  c: [[0, 50]],
};

/** Name of the picture → settings of the group. */
export function picturesOf(strategies) {
  return {
    ...Object.fromEntries(strategies.map((strategy) => [strategy, { strategy }])),
    smoothing: { strategy: 'max-min', smoothingMs: 1000 },
    slew: { strategy: 'max-min', slewPerSecond: 0.2 },
  };
}

export function play(groupSettings, { resolveConfig, World }) {
  const quota = { publish: { messagesPerSecond: QUOTA } };
  const raw = { cluster: 'docs', node: 'a', topic: 'memory', groups: { orders: { quota, ...groupSettings } } };
  const { cluster, timing, sampleIntervalMs, limiting, costs, groups } = resolveConfig(raw, { source: 'docs' });
  const settings = { ...timing, sampleIntervalMs, limiting, costs, groups };
  const world = new World(1, { cluster, version: 'docs', partitions: 1, ...settings });
  for (const node of Object.keys(STORY)) world.start(node);
  world.runFor(100);
  for (const node of Object.keys(STORY)) {
    world.drive({ node, ratePerSecond: (nowMs) => demandAt(node, nowMs), evenly: true });
  }
  const shares = Object.fromEntries(Object.keys(STORY).map((node) => [node, []]));
  while (world.nowMs < DURATION_MS) {
    for (const [node, steps] of Object.entries(shares)) addStep(steps, world.nowMs, shareOf(world, node));
    world.runFor(SAMPLE_MS);
  }
  return { shares };
}

const SAMPLE_MS = 20;

function shareOf(world, node) {
  return world.node(node).coordinator.shares.applied[0];
}

function addStep(steps, atMs, share) {
  if (Number.isFinite(share) && steps.at(-1)?.[1] !== share) steps.push([atMs, share]);
}

export function demandAt(node, nowMs) {
  return STORY[node].findLast(([fromMs]) => fromMs <= nowMs)[1];
}
