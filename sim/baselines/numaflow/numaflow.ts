import type { Baseline, BaselineEnvironment } from '../baseline.js';
import { BaselineCluster } from '../baseline-cluster.js';
import { MessageBus } from '../message-bus.js';
import { ANSWER_BYTES, DEFAULT_RAMP, Pod, type PodRamp, STORE, type StoreMessage } from './pod.js';
import { PoolStore } from './pool-store.js';

/** Seconds that a silent pod counts, by default. */
const TTL_SEC = 180;
/** Milliseconds between a rollout's checks. */
const ROLLOUT_CHECK_MS = 100;

/** Models Numaflow's distributed throttling with Redis, as shipped (docs/background/numaflow-throttling.md). */
export const NUMAFLOW: Baseline = {
  name: 'numaflow',
  says: 'Numaflow as shipped: quota ÷ agreed pool size, which never shrinks',
  create: (environment) => {
    const bus = new MessageBus<StoreMessage>(environment);
    const pods = new Map<string, Pod>();
    serveStore(environment, bus);
    const cluster: BaselineCluster<StoreMessage> = new BaselineCluster(
      'numaflow',
      environment,
      bus,
      (process, quota) => {
        const pod = new Pod(process, quota, bus, rampOf(environment));
        pods.set(process.node, pod);
        return pod;
      },
      () => rollOut(environment, cluster, (node) => pods.get(node)?.isServing === true),
    );
    return cluster;
  },
};

/** Returns the group's ramp if its mode is modelled, else the default. */
function rampOf({ settings }: BaselineEnvironment): PodRamp {
  const ramp = settings?.groups[0]?.ramp ?? null;
  if (ramp === null) return DEFAULT_RAMP;
  const mode = ramp.mode === 'scheduled' ? 'scheduled' : 'relaxed';
  return { mode, min: ramp.fromPerSecond, max: ramp.toPerSecond, rampSec: ramp.overMs / 1000 };
}

function serveStore({ queue }: BaselineEnvironment, bus: MessageBus<StoreMessage>): void {
  const store = new PoolStore(TTL_SEC);
  bus.attach(STORE, (message, from) => {
    const nowSec = queue.nowMs / 1000;
    if (message.kind === 'register') {
      bus.send(STORE, from, { kind: 'registered', size: store.register(from, nowSec) }, ANSWER_BYTES);
    }
    if (message.kind === 'sync') {
      bus.send(STORE, from, { kind: 'synced', answer: store.sync(from, message.size, nowSec) }, ANSWER_BYTES);
    }
    if (message.kind === 'deregister') store.deregister(from);
  });
}

/** Restarts pods with a new limit; each waits until the one before serves. */
function rollOut(
  { queue }: BaselineEnvironment,
  cluster: BaselineCluster<StoreMessage>,
  isServing: (node: string) => boolean,
): void {
  const waiting = [...cluster.runningNodes];
  let current: string | undefined;
  const step = () => {
    const isBusy = current !== undefined && cluster.runningNodes.includes(current) && !isServing(current);
    if (!isBusy) {
      current = waiting.shift();
      if (current === undefined) return;
      if (cluster.runningNodes.includes(current)) {
        cluster.leave(current);
        cluster.start(current);
      }
    }
    queue.after(ROLLOUT_CHECK_MS, step);
  };
  step();
}
