import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Telemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { WakingClock } from '../../../src/node/loop/waking-clock.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';

const HOUR_MS = 3_600_000;
/** As `/proc/uptime` has it. */
const RESOLUTION_MS = 10;

/** A machine that can be suspended: its steady clock stands still then. */
class Machine {
  awakeMs = 5000;
  suspendedMs = 0;
  /** Passes while the uptime is read. */
  pauseMs = 0;
  readonly clock = new WakingClock(
    () => this.awakeMs,
    () => {
      this.awakeMs += this.pauseMs;
      const uptimeMs = this.awakeMs + this.suspendedMs + 77_000;
      return Math.floor(uptimeMs / RESOLUTION_MS) * RESOLUTION_MS;
    },
  );
}

describe('a clock that counts suspends', () => {
  it('goes as the steady clock does while nothing happens, to the millisecond, for a day', () => {
    const machine = new Machine();
    for (let look = 0; look < 86_400 * 20; look++) {
      machine.awakeMs += 50.3;
      machine.clock.look();
    }
    expect(machine.clock.suspendedMs).toBe(0);
  });

  it('counts each suspend once, as exactly as the uptime is told', () => {
    const machine = new Machine();
    for (const ms of [HOUR_MS, 1000, 150]) {
      const before = machine.clock.clock();
      machine.suspendedMs += ms;
      machine.awakeMs += 50;
      for (let look = 0; look < 3; look++) machine.clock.look();
      expect(Math.abs(machine.clock.clock() - before - ms - 50)).toBeLessThanOrEqual(RESOLUTION_MS);
    }
  });

  it('does not take a pause of the process between its two readings for a suspend', () => {
    const machine = new Machine();
    machine.pauseMs = 5000;
    machine.clock.look();
    machine.pauseMs = 0;
    machine.clock.look();
    expect(machine.clock.suspendedMs).toBe(0);
  });

  it.runIf(existsSync('/proc/self/fd'))('of all nodes that a process makes and closes share one descriptor', () => {
    for (let made = 0; made < 100; made++) new WakingClock().look();
    expect(openFiles().filter((file) => file === '/proc/uptime')).toHaveLength(1);
  });

  it('is the steady clock where the uptime is not told', () => {
    const clock = new WakingClock(
      () => 5,
      () => null,
    );
    clock.look();
    expect(clock.clock()).toBe(5);
  });

  it('counts nothing on this machine, which is awake', async () => {
    const clock = new WakingClock();
    for (let look = 0; look < 50; look++) {
      await sleep(10);
      clock.look();
    }
    expect(clock.suspendedMs).toBe(0);
  });
});

describe('a node on a machine that was suspended', () => {
  const nodes: WholeNode[] = [];
  afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));

  async function start(uptimeMs: () => number | null) {
    const groups = { orders: { quota: { publish: { messagesPerSecond: 1000 } } } };
    const config = resolveConfig(
      { cluster: 'c', node: 'n', topic: { kind: 'memory' }, groups },
      { source: 'test', env: {} },
    );
    const lines: { readonly message: string; readonly facts: Readonly<Record<string, unknown>> }[] = [];
    const telemetry: Telemetry = { log: (_, message, facts = {}) => void lines.push({ message, facts }) };
    const log = createMemoryLog();
    const wakingClock = new WakingClock(() => performance.now(), uptimeMs);
    const node = new WholeNode({ config, topic: new MemoryTopic(log), telemetry, version: '0', nonce: 1, wakingClock });
    nodes.push(node);
    await node.start();
    await node.ready();
    return { node, log, stalled: () => lines.find(({ message }) => message.startsWith('this process slept')) };
  }

  it('admits nothing from the first round on, until it has read the log up to now', async () => {
    let suspendedMs = 0;
    const { node, log, stalled } = await start(() => performance.now() + suspendedMs);
    expect((await node.acquire('orders', { messages: 1 }, { waitMs: 10_000 })).granted).toBe(true);
    await sleep(200);
    // Its own record cannot come back, as little as in the first moments after waking.
    log.pauseAppends();
    suspendedMs += HOUR_MS;
    await sleep(300);
    expect(stalled()?.facts.gapMs).toBeGreaterThan(HOUR_MS - 1000);
    expect(node.isReady).toBe(false);
    expect(node.tryAcquire('orders', { messages: 1 }).granted).toBe(false);
    log.resumeAppends();
    await node.ready();
  });

  it('would have noticed nothing by the monotonic clock alone', async () => {
    const { node, stalled } = await start(() => null);
    await sleep(300);
    expect(stalled()).toBeUndefined();
    expect(node.isReady).toBe(true);
  });
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      // It was that of the folder itself.
      return [];
    }
  });
}
