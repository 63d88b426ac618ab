import { describe, expect, test } from 'vitest';
import { QuotaScene } from './quota-scene.js';

const PERMIT_MS = 2000;
const PAIR = ['a', 'b'];

/** Turns the demand so often that whoever writes has something to write; returns how many may write at once. */
function runBusily(scene: QuotaScene, seconds: number): number {
  let atOnce = 0;
  for (let at = 0; at < seconds * 10; at++) {
    if (at % 20 === 0) scene.wants(...(at % 40 === 0 ? [800_000, 100_000] : [100_000, 900_000]));
    scene.run(0.1);
    atOnce = Math.max(atOnce, mayWrite(scene).length);
  }
  return atOnce;
}

/** Twenty such seconds of new keepers. */
function busyScene(keepers = PAIR): QuotaScene {
  const scene = new QuotaScene({ keepers });
  runBusily(scene, 20);
  return scene;
}

function mayWrite(scene: QuotaScene): string[] {
  const running = [...scene.keepers].filter(([, each]) => !each.isFrozen);
  return running.filter(([, { keeper }]) => keeper.election.mayWrite(scene.nowMs)).map(([id]) => id);
}

function writersOf(scene: QuotaScene, fromMs = 0): string[] {
  return [...new Set(scene.written.filter(({ atMs }) => atMs >= fromMs).map(({ by }) => by))];
}

describe('of several keepers', () => {
  test('two that start at once: the lowest id writes, never both', () => {
    const scene = new QuotaScene({ keepers: PAIR });
    expect(runBusily(scene, 60)).toBe(1);
    expect(writersOf(scene)).toEqual(['a']);
  });

  test('a lower id that comes later takes over, and the former writer has stopped before', () => {
    const scene = busyScene(['b']);
    scene.start('a');
    expect(runBusily(scene, 20)).toBe(1);
    expect(writersOf(scene)).toEqual(['b', 'a']);
    const lastOfB = Math.max(...scene.written.filter(({ by }) => by === 'b').map(({ atMs }) => atMs));
    const firstOfA = Math.min(...scene.written.filter(({ by }) => by === 'a').map(({ atMs }) => atMs));
    expect(lastOfB).toBeLessThan(firstOfA);
  });

  test('the writer is killed: its last value stays, and the other one goes on 5 s later', () => {
    const scene = QuotaScene.running(20, { keepers: PAIR });
    const value = scene.valueInForce;
    scene.keeper('a').kill();
    scene.run(4);
    expect(scene.valueInForce).toBe(value);
    const killedMs = scene.nowMs;
    runBusily(scene, 20);
    expect(writersOf(scene, killedMs)).toEqual(['b']);
  });

  test('all are killed: the last value stays', () => {
    const scene = QuotaScene.running(20, { keepers: PAIR });
    const value = scene.valueInForce;
    scene.keeper('a').kill();
    scene.keeper('b').kill();
    scene.run(60);
    expect(scene.valueInForce).toBe(value);
  });

  test('the writer stops in order: the other one goes on within 3 s', () => {
    const scene = QuotaScene.running(20, { keepers: PAIR });
    scene.keeper('a').stop();
    scene.run(3);
    expect(mayWrite(scene)).toEqual(['b']);
  });

  test('the writer is frozen, and thawed: never both, and it writes nothing before it has the lease again', () => {
    const scene = busyScene();
    scene.keeper('a').isFrozen = true;
    const frozenMs = scene.nowMs;
    runBusily(scene, 20);
    expect(writersOf(scene, frozenMs + 100)).toEqual(['b']);
    scene.keeper('a').thaw();
    const thawedMs = scene.nowMs;
    expect(runBusily(scene, 20)).toBe(1);
    const firstOfA = scene.written.find(({ by, atMs }) => by === 'a' && atMs > thawedMs);
    expect(firstOfA?.atMs).toBeGreaterThan(thawedMs + PERMIT_MS);
  });

  test('the writer freezes with a change in its hand: the late value is known again, and put right', () => {
    const scene = busyScene();
    const a = scene.keeper('a');
    a.freezeWhileSending();
    runBusily(scene, 15);
    expect(a.isFrozen).toBe(true);
    scene.wants(800_000, 100_000);
    scene.run(15);
    const value = scene.valueInForce as number;
    a.thaw();
    scene.run(10);
    expect(Math.abs((scene.valueInForce as number) / value - 1)).toBeLessThan(0.05);
    for (const { lines } of scene.keepers.values()) {
      expect(lines.filter(({ message }) => message.includes('somebody else'))).toEqual([]);
    }
  });

  test('the writer is cut off from the log: it stops within its lease, before the other one begins', () => {
    const scene = busyScene();
    scene.keeper('a').isCutOff = true;
    expect(runBusily(scene, 20)).toBe(1);
    expect(mayWrite(scene)).toEqual(['b']);
  });

  test('they are configured otherwise: both say so once, and the writer’s configuration counts', () => {
    const scene = new QuotaScene({ keepers: PAIR });
    const [spec] = scene.specs;
    scene.keeper('b').specs = [{ ...spec, quota: 100_000 }];
    scene.run(20);
    for (const id of ['a', 'b']) expect(scene.keeper(id).said('other entities or quotas')).toHaveLength(1);
    expect(scene.valueInForce).toBeGreaterThan(350_000);
  });
});

describe('what the log keeps of keepers', () => {
  /** As compaction leaves it. */
  function keepersIn(scene: QuotaScene): string[] {
    const newest = new Map(scene.log.map(({ key, record }) => [key, record]));
    return [...newest].flatMap(([key, record]) => (key.startsWith('keeper/') && record !== null ? [key] : []));
  }

  test('nothing of one that has left', () => {
    const scene = QuotaScene.running(20, { keepers: PAIR });
    scene.keeper('a').stop();
    scene.run(2);
    expect(keepersIn(scene)).toEqual(['keeper/b']);
    expect(scene.keeper('b').keeper.election.isWriter).toBe(true);
  });

  test('nothing of one that was killed ten minutes ago; one that stood still for an hour is there again', () => {
    const scene = QuotaScene.running(20, { keepers: ['a', 'b', 'c'] });
    scene.keeper('b').kill();
    scene.keeper('c').isFrozen = true;
    scene.run(590);
    expect(keepersIn(scene).sort()).toEqual(['keeper/a', 'keeper/b', 'keeper/c']);
    scene.run(20);
    expect(keepersIn(scene)).toEqual(['keeper/a']);
    scene.keeper('c').thaw();
    scene.run(5);
    expect(keepersIn(scene).sort()).toEqual(['keeper/a', 'keeper/c']);
    expect(scene.keeper('a').keeper.election.alive(scene.nowMs)).toEqual(['a', 'c']);
  });

  test('one of the same id that has come before the other leaves is not forgotten', () => {
    const scene = QuotaScene.running(10, { keepers: ['b'] });
    const former = scene.keeper('b');
    scene.start('b');
    scene.start('c');
    scene.run(5);
    former.stop();
    scene.keepers.delete('b');
    scene.run(1);
    expect(scene.keeper('c').keeper.election.alive(scene.nowMs)).toEqual(['b', 'c']);
  });
});
