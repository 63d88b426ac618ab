import { describe, expect, it } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import type { SimulatedNode } from '../../../sim/cluster/simulated-node.js';
import { World } from '../../../sim/cluster/world.js';
import { Oracle } from '../../../sim/oracle/oracle.js';
import { FAULT_KINDS } from '../../../sim/swarm/fault-kinds.js';
import { SETTINGS } from '../../simulation/settings.js';

const NODES = ['a', 'b'];
/** As the swarm has it. */
const RECOVERY_MS = SETTINGS.stalenessMs + SETTINGS.isolationAfterMs / 2 + 2000;

/** Draws faults of middling length, leaving nodes and compacted logs. */
class Middling extends Random {
  override next(): number {
    return 0.4;
  }
}

function signedWorld() {
  const world = new World(5, SETTINGS);
  const oracle = new Oracle(world);
  world.observer = oracle;
  world.signingKey = 'right';
  for (const node of NODES) world.start(node);
  world.runFor(3000);
  /** Makes a fault; returns its length. */
  const make = (kind: string, node: string) => {
    return FAULT_KINDS.find(({ name }) => name === kind)!(world, node, new Middling(1)).lastsMs;
  };
  const broken = () => {
    world.runFor(RECOVERY_MS);
    oracle.expectRecovered(NODES);
    oracle.check();
    return oracle.violations.first.map(({ promise, says }) => `${promise}: ${says}`);
  };
  return { world, make, broken };
}

function fence({ coordinator }: SimulatedNode): void {
  coordinator.phase = 'fenced';
  coordinator.endedBy = { kind: 'fenced', ownIncarnation: 1, newerIncarnation: 2 };
}

describe('a node whose processes are all fenced once they hear of each other', () => {
  /** None of them reads records with their key while b has a wrong key, too; the one with the highest life is dead. */
  function unheard() {
    const scene = signedWorld();
    const { world } = scene;
    world.node('b').crash();
    const wrong = world.start('b', { signingKey: 'wrong' });
    const lastsMs = scene.make('wrongKey', 'a');
    world.runFor(700);
    world.start('a', { compacted: true, nonce: 0xfffe });
    // In between the process with the wrong key hides that life.
    world.runFor(600);
    const highest = world.start('a', { compacted: true, nonce: 0xffff });
    world.runFor(100);
    highest.crash();
    world.runFor(lastsMs);
    wrong.crash();
    world.start('b', { compacted: true });
    world.runFor(500);
    expect(world.serving('a').length).toBe(0);
    return scene;
  }

  it('is one process again, by its supervisor', () => {
    expect(unheard().broken()).toEqual([]);
  });

  it('is not if each next one is fenced, too', () => {
    const { world, broken } = unheard();
    const fenceAll = () => {
      for (const process of world.serving('a')) fence(process);
      world.queue.after(1, fenceAll);
    };
    fenceAll();
    expect(broken()).toContain('recovery: a: 0 processes serve under this name');
  });
});

it('lets no supervisor hide a process that is fenced although no wrong key came to its node', () => {
  const { world, make, broken } = signedWorld();
  world.runFor(make('wrongKey', 'a'));
  fence(world.node('b'));
  expect(broken()).toContain('recovery: b: 0 processes serve under this name');
});

describe('a node that comes back while all are stopped for a new number of partitions', () => {
  /** Node b reads what the others wrote last. */
  function cameBack() {
    const scene = signedWorld();
    const { world } = scene;
    world.node('b').crash();
    Object.assign(world.topic.slowness, { appendMs: 1000 });
    const endMs = world.nowMs + scene.make('grown', 'a');
    while (world.running('a').length > 0) world.runFor(10);
    world.start('b');
    return { ...scene, endMs };
  }

  it('is started again if it read a last record of the old number', () => {
    const { world, endMs, broken } = cameBack();
    world.runFor(1000);
    expect(world.node('b').coordinator.endedBy?.kind).toBe('partitions-differ');
    Object.assign(world.topic.slowness, { appendMs: 0 });
    world.runFor(endMs - world.nowMs);
    expect(broken()).toEqual([]);
  });

  it('is not if it was fenced for another reason', () => {
    const { world, endMs, broken } = cameBack();
    fence(world.node('b'));
    Object.assign(world.topic.slowness, { appendMs: 0 });
    world.runFor(endMs - world.nowMs);
    expect(broken()).toContain('recovery: b: 0 processes serve under this name');
  });
});

it('starts no node again that stops by a number of partitions after the restart of all', () => {
  const { world, make, broken } = signedWorld();
  world.runFor(make('grown', 'a'));
  const { coordinator } = world.node('b');
  coordinator.phase = 'fenced';
  coordinator.endedBy = { kind: 'partitions-differ', nodeId: 'a', founded: 1, own: 2 };
  expect(broken()).toContain('recovery: b: 0 processes serve under this name');
});
