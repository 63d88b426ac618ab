import { type KeeperStatus, keeperStatus } from '../../../src/doors/kafka-quotas/keeper-status.js';
import { QuotaScene } from '../../simulation/kafka-quotas/quota-scene.js';

/** What a keeper tells after `seconds` beside two brokers of which one wants more than it gets. */
export function keeperStatusAfter(seconds: number, prepare: (scene: QuotaScene) => void = () => {}): KeeperStatus {
  const scene = new QuotaScene();
  scene.wants(800_000, 100_000);
  prepare(scene);
  scene.run(seconds);
  const windows = [{ broker: '127.0.0.1:9092', windows: 1, windowSeconds: 1 }];
  return keeperStatus(scene.keeper('a').keeper, scene.nowMs, { id: 'a', kafkaProblem: null, leftOut: 0, windows });
}

export const KEEPER_STATUS = keeperStatusAfter(20);
