import type { Fenced } from '../../src/core/base/protocol/events-and-effects.js';
import type { Random } from '../cluster/random.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import { SILENT_TIMEOUT_MS } from '../cluster/simulated-topic.js';
import type { World } from '../cluster/world.js';

/** Makes a fault; returns its story and length. The function names the kind. */
export type FaultKind = (world: World, node: string, random: Random) => Fault;

interface Fault {
  readonly says: string;
  readonly lastsMs: number;
}

const HOUR_MS = 3_600_000;
const LASTS_MS_MAX = 7000;
/** Milliseconds until one of two processes of an id is left. */
const TAKEOVER_MS = 1000;
const PARTITIONS_MAX = 12;
/** Milliseconds until ended processes' produces are in the log; later ones would look alive. */
const ALL_STOPPED_MS = 2000;

/** Kinds of faults. */
export const FAULT_KINDS: readonly FaultKind[] = [
  function crash(world, node, random) {
    return goAway(world, node, random, drawLength(random), 'is killed');
  },
  function leave(world, node, random) {
    return goAway(world, node, random, drawLength(random), 'leaves');
  },
  /** Keeps the node away until it is forgotten and buried. */
  function absence(world, node, random) {
    const { stalenessMs, forgetAfterMs } = world.settings;
    // Production forgets after ten minutes, and no world lasts that long.
    const lastsMs = Math.min(stalenessMs + forgetAfterMs, 10_000) + random.between(500, 3000);
    return goAway(world, node, random, lastsMs, random.next() < 0.5 ? 'is killed' : 'leaves');
  },
  function stall(world, node, random) {
    const lastsMs = drawLength(random);
    world.node(node).stall(lastsMs, random.between(0, 200));
    return { says: `${node} is frozen`, lastsMs };
  },
  function suspend(world, node, random) {
    const lastsMs = drawLength(random);
    world.node(node).suspend(lastsMs, random.between(0, 200));
    return { says: `${node} is suspended and its clock stands still`, lastsMs };
  },
  function cutOff(world, node, random) {
    const fated = random.next();
    const ways = { reads: fated < 0.7, appends: fated > 0.3 };
    const cut = world.node(node);
    const lastsMs = drawLength(random);
    cut.cutOff(true, ways);
    world.queue.after(lastsMs, () => cut.cutOff(false));
    const cannot = [ways.reads ? 'read' : '', ways.appends ? 'append' : ''].join(' ').trim();
    return { says: `${node} cannot ${cannot}`, lastsMs };
  },
  function outage(world, _node, random) {
    const lastsMs = drawLength(random);
    world.topic.isAway = true;
    world.queue.after(lastsMs, () => {
      world.topic.isAway = false;
    });
    return { says: 'the topic is away', lastsMs };
  },
  /** Silences a partition's leader: its unanswered produce blocks a node until the timeout. */
  function silentPartition(world, _node, random) {
    const lastsMs = drawLength(random);
    const partition = Math.floor(random.between(0, world.topic.partitions.length));
    world.topic.silence(partition, true);
    world.queue.after(lastsMs, () => world.topic.silence(partition, false));
    const says = `the leader of partition ${partition} answers nobody, for ${(lastsMs / 1000).toFixed(1)} s`;
    return { says, lastsMs: lastsMs + SILENT_TIMEOUT_MS };
  },
  function badAppends(world, _node, random) {
    const lastsMs = drawLength(random);
    Object.assign(world.topic.faults, { lost: random.between(0, 0.2), unacknowledged: random.between(0, 0.2) });
    world.queue.after(lastsMs, () => Object.assign(world.topic.faults, { lost: 0, unacknowledged: 0 }));
    return { says: 'appends and acknowledgements get lost', lastsMs };
  },
  function repeats(world, node, random) {
    world.node(node).repeatDelivery(Math.floor(random.between(1, 50)));
    return { says: `${node} is given old records again`, lastsMs: 0 };
  },
  function clockJump(world, _node, random) {
    const byMs = (random.next() < 0.5 ? 1 : -1) * (random.next() < 0.5 ? HOUR_MS : random.between(50, 5000));
    world.topic.clockOffsetMs += byMs;
    return { says: `the clock of the log is stepped by ${(byMs / 1000).toFixed(1)} s`, lastsMs: 0 };
  },
  function impostor(world, node) {
    world.start(node, { compacted: true });
    return { says: `a second process starts as ${node}`, lastsMs: TAKEOVER_MS };
  },
  function slowLog(world, _node, random) {
    const lastsMs = drawLength(random);
    const slowness = { appendMs: random.between(0, 400), deliveryMs: random.between(0, 200) };
    Object.assign(world.topic.slowness, slowness);
    world.queue.after(lastsMs, () => Object.assign(world.topic.slowness, { appendMs: 0, deliveryMs: 0 }));
    const says = `appends take ${slowness.appendMs.toFixed(0)} ms more, deliveries ${slowness.deliveryMs.toFixed(0)} ms`;
    return { says, lastsMs };
  },
  function slowReader(world, node, random) {
    const slow = world.node(node);
    const lastsMs = drawLength(random);
    const lateMs = random.between(50, 2500);
    slow.delayReads(lateMs);
    world.queue.after(lastsMs, () => slow.delayReads(0));
    return { says: `${node} reads ${lateMs.toFixed(0)} ms late`, lastsMs: lastsMs + lateMs };
  },
  function madeAnew(world) {
    world.topic.makeAnew();
    return { says: 'the topic is deleted and made anew', lastsMs: 0 };
  },
  function madeAnewWider(world, _node, random) {
    world.topic.makeAnew();
    return grow(world, random, 'the topic is deleted and made anew');
  },
  function grown(world, _node, random) {
    return grow(world, random, 'somebody adds partitions');
  },
  /** Rolls a wrong key out to one node, then the right one. */
  function wrongKey(world, node, random) {
    const before = world.node(node);
    if (!before.isRunning) return { says: `${node} is away already`, lastsMs: 0 };
    const lastsMs = drawLength(random);
    const signingKey = random.next() < 0.5 ? 'the wrong key of a rollout' : `the wrong key of ${node}`;
    end(before, random);
    const wrong = world.start(node, { compacted: random.next() < 0.7, signingKey });
    world.queue.after(lastsMs, () => {
      // Behind a wrong key a process finds no older life, and may take its forerunner's.
      startEnded(world, node, 'fenced');
      if (!wrong.isRunning) return;
      end(wrong, random);
      world.start(node, { compacted: random.next() < 0.7 });
    });
    return { says: `${node} restarts with ${signingKey}`, lastsMs: lastsMs + TAKEOVER_MS };
  },
  /** Cuts the log's end; it grows beyond a cut-off node's offset. */
  function truncated(world, _node, random) {
    const kept = random.next();
    world.topic.truncate((_partition, endOffset) => Math.floor(endOffset * kept));
    return { says: `the log loses all but ${(100 * kept).toFixed(0)} % of each partition`, lastsMs: 0 };
  },
];

/** Draws a world's kinds of faults, one at least. */
export function drawFaultKinds(random: Random): readonly FaultKind[] {
  const drawn = FAULT_KINDS.filter(() => random.next() < 0.5);
  return drawn.length > 0 ? drawn : [FAULT_KINDS[Math.floor(random.between(0, FAULT_KINDS.length))]];
}

function drawLength(random: Random): number {
  return random.between(200, LASTS_MS_MAX);
}

/** Starts a node again whose processes have all ended so. A supervisor or operator does, until one decides alone. */
function startEnded(world: World, node: string, why: Fenced['kind']): void {
  world.queue.after(TAKEOVER_MS, () => {
    const [serving, ...more] = world.serving(node);
    if (serving?.coordinator.isReady === true && more.length === 0) return;
    const running = world.running(node);
    if (serving === undefined && running.some(({ coordinator }) => coordinator.endedBy?.kind === why)) {
      for (const ended of running) ended.crash();
      world.start(node, { compacted: true });
    }
    startEnded(world, node, why);
  });
}

/** Sends a node away, unless it is. */
function goAway(world: World, node: string, random: Random, lastsMs: number, how: 'is killed' | 'leaves'): Fault {
  const gone = world.node(node);
  if (!gone.isRunning) return { says: `${node} is away already`, lastsMs: 0 };
  if (how === 'leaves') gone.leave();
  else gone.crash();
  const compacted = random.next() < 0.7;
  world.queue.after(lastsMs, () => {
    world.start(node, { compacted });
    // In a log that was made anew a record of the process before it may come after it.
    startEnded(world, node, 'fenced');
  });
  const back = `comes back after ${(lastsMs / 1000).toFixed(1)} s`;
  return { says: `${node} ${how} and ${back}${compacted ? ' to a compacted log' : ''}`, lastsMs };
}

/** Adds partitions: running nodes keep the old number, starting ones stop with PARTITIONS_DIFFER until all restart. */
function grow(world: World, random: Random, how: string): Fault {
  const { partitions } = world.topic;
  const added = Math.min(Math.floor(random.between(1, 4)), PARTITIONS_MAX - partitions.length);
  world.topic.grow(added);
  const untilMs = drawLength(random);
  world.queue.after(untilMs, () => {
    // A node that is away comes back by itself.
    const ended = [...world.nodes.keys()].filter((name) => world.running(name).length > 0);
    for (const name of ended) for (const process of world.running(name)) end(process, random);
    world.queue.after(ALL_STOPPED_MS, () => {
      for (const name of world.nodes.keys()) {
        // A node that came back meanwhile may have read a last record of the old number.
        if (world.running(name).length > 0) startEnded(world, name, 'partitions-differ');
        else if (ended.includes(name)) world.start(name, { compacted: random.next() < 0.7 });
      }
    });
  });
  const says = `${how}, ${added} partitions more; all nodes are restarted after ${(untilMs / 1000).toFixed(1)} s`;
  return { says, lastsMs: untilMs + ALL_STOPPED_MS + world.settings.stalenessMs + TAKEOVER_MS };
}

function end(process: SimulatedNode, random: Random): void {
  if (random.next() < 0.5) process.leave();
  else process.crash();
}
