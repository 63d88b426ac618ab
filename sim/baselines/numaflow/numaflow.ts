import type { Baseline, BaselineEnvironment } from '../baseline.js';
import { BaselineCluster } from '../baseline-cluster.js';
import { MessageBus } from '../message-bus.js';
import { ANSWER_BYTES, DEFAULT_RAMP, Pod, type PodRamp, STORE, type StoreMessage } from './pod.js';
import { PoolStore } from './pool-store.js';

/** The default: a pod that is silent still counts for three minutes. */
const TTL_SEC = 180;
/** How often a rollout checks whether the pod that it restarted serves. */
const ROLLOUT_CHECK_MS = 100;

/** Numaflow's distributed throttling with a Redis store, as shipped (docs/background/numaflow-throttling.md). */
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

/** Returns the group's ramp in one of the two modes that are modelled, or the default ramp if it has none. */
function rampOf({ settings }: BaselineEnvironment): PodRamp {
  const ramp = settings?.groups[0]?.ramp ?? null;
  if (ramp === null) return DEFAULT_RAMP;
  const mode = ramp.mode === 'scheduled' ? 'scheduled' : 'relaxed';
  return { mode, min: ramp.fromPerSecond, max: ramp.toPerSecond, rampSec: ramp.overMs / 1000 };
}

/** Serves Redis behind a connection: scripts run one at a time, in the order of their arrival. */
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

/** Restarts one pod after the other with the new limit; the next one when the one before serves. */
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
