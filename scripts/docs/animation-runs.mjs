/**
 * Runs of the real core in virtual time, for the moving pictures of docs/guide/how-it-works.md. Even arrivals and one
 * seed, so that the same source gives the same bytes.
 */
export const FRAME_MS = 100;
/** Before the picture begins, with what is wanted at its beginning. */
const JOIN_MS = 8000;
/** A rate is what was admitted in so long before a frame. */
const RATE_MS = 500;
const NODES = ['a', 'b', 'c'];

/**
 * Name of the picture → what is asked for, what happens, and what is said when. Times are those of the picture; who
 * wants no motion sees the instant `stillMs`.
 */
export const STORIES = {
  'demand-moves': {
    title: 'Demand moves: quota 1,000/s',
    quota: 1000,
    lengthMs: 14_000,
    wants: {
      a: [
        [0, 1500],
        [6000, 100],
      ],
      b: [
        [0, 150],
        [3000, 500],
        [9000, 1500],
      ],
      c: [[0, 50]],
    },
    stillMs: 12_000,
    says: [
      [0, 'a is asked for 1,500/s and has what b and c leave'],
      [3000, 'b is asked for 500/s: a gives way, and both have half of what c leaves'],
      [6000, 'a is asked for 100/s only: nobody is refused'],
      [9000, 'b is asked for 1,500/s and has what a and c leave'],
    ],
  },
  'node-dies': {
    title: 'A node dies: quota 900/s',
    quota: 900,
    lengthMs: 16_000,
    wants: { a: [[0, 700]], b: [[0, 700]], c: [[0, 700]] },
    deaths: { b: [3000, 11_000] },
    stillMs: 9000,
    says: [
      [0, 'all want more than there is: a third for each'],
      [3000, 'b is killed; nobody knows, so its third stays unused'],
      [7400, 'b has been silent for 5 s: a and c have half each'],
      [11_000, 'b is back, and has its third again'],
    ],
  },
  'burst-anywhere': {
    title: 'A burst at any node: quota 100/s, burst 200',
    quota: 100,
    burst: 200,
    lengthMs: 12_000,
    wants: {},
    stillMs: 5300,
    bursts: [
      [2000, 'a', 200],
      [5000, 'b', 150],
      [9000, 'c', 300],
    ],
    says: [
      [0, 'nobody asks: the one bucket of the cluster is full'],
      [2000, '200 at once at a: all pass, without a question to anybody'],
      [5000, '150 at once at b: all pass, for the bucket is full again'],
      [9000, '300 at once at c: what the bucket held passes, and no more'],
    ],
  },
};

/**
 * A frame says of each node what it may take, what it admits and what it is asked for: per second, or in a story of
 * bursts as pieces of the last half second. `tokens` is what the bucket of the cluster holds.
 */
export function playStory(story, { resolveConfig, World, bucketNow }) {
  const world = new World(3, settingsOf(story, resolveConfig));
  for (const node of NODES) world.start(node);
  world.runFor(100);
  for (const node of Object.keys(story.wants)) {
    world.drive({ node, ratePerSecond: (nowMs) => wantedBy(story, node, nowMs - JOIN_MS), evenly: true });
  }
  // What a node has never been asked for it shows nothing of.
  for (const node of story.bursts === undefined ? [] : NODES) askAtOnce(world, node, 1);
  world.runFor(JOIN_MS - world.nowMs);
  for (const [atMs, node, pieces] of story.bursts ?? []) {
    world.queue.after(atMs, () => askAtOnce(world, node, pieces));
  }
  for (const [node, [killedMs, backMs]] of Object.entries(story.deaths ?? {})) {
    world.queue.after(killedMs, () => world.node(node).crash());
    world.queue.after(backMs, () => world.start(node));
  }
  const frames = [];
  for (let atMs = 0; atMs <= story.lengthMs; atMs += FRAME_MS) {
    const tokens = bucketNow(world.node('a').coordinator, 0, 0, world.nowMs)?.tokens ?? 0;
    frames.push({ atMs, nodes: NODES.map((node) => frameOf(world, story, node, atMs)), tokens: Math.max(0, tokens) });
    world.runFor(FRAME_MS);
  }
  return frames;
}

function wantedBy({ wants }, node, atMs) {
  const steps = wants[node];
  return (steps.findLast(([fromMs]) => fromMs <= atMs) ?? steps[0])[1];
}

function isDead({ deaths = {} }, node, atMs) {
  const [killedMs, backMs] = deaths[node] ?? [Infinity, 0];
  return atMs >= killedMs && atMs < backMs;
}

function settingsOf({ quota, burst }, resolveConfig) {
  const group = { quota: { publish: { messagesPerSecond: quota } } };
  if (burst !== undefined) group.burst = burst;
  const raw = { cluster: 'docs', node: 'a', topic: 'memory', groups: { orders: group } };
  const { cluster, timing, sampleIntervalMs, limiting, costs, groups } = resolveConfig(raw, { source: 'docs' });
  return { cluster, version: 'docs', partitions: 1, ...timing, sampleIntervalMs, limiting, costs, groups };
}

function askAtOnce(world, node, pieces) {
  for (let piece = 0; piece < pieces; piece++) {
    const granted = world.ask(node, 0, 1, 0, false);
    world.arrivals.push({ atMs: world.nowMs, node, lane: 0, granted, messages: 1, bytes: 0 });
  }
}

function frameOf(world, story, node, atMs) {
  const recent = world.arrivals.filter((one) => one.node === node && one.atMs > world.nowMs - RATE_MS);
  const admitted = recent.filter(({ granted }) => granted).length;
  if (story.bursts !== undefined) return { node, share: 0, admitted, wanted: recent.length };
  if (isDead(story, node, atMs)) return { node, share: 0, admitted: 0, wanted: 0 };
  const share = world.node(node).coordinator.shares.applied[0];
  return { node, share, admitted: (admitted * 1000) / RATE_MS, wanted: wantedBy(story, node, atMs) };
}
