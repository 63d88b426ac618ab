import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedKafka } from '../kafka/shared-kafka.js';
import { CAPACITY, QUEUE_TARGET, RESERVED, SaturatedBackend, type Window } from './saturated-backend.js';

export interface StoryLengths {
  readonly settleSec: number;
  readonly measureSec: number;
}

/** A backend that saturates, held near its target through real nodes and Kafka; then its zone goes bad alone. */
export function saturatedBackendStory({ settleSec, measureSec }: StoryLengths): void {
  describe('a backend that saturates, three nodes over Kafka', () => {
    let scene: SaturatedBackend;
    beforeAll(async () => {
      scene = await SaturatedBackend.start({
        kind: 'kafka',
        brokers: await sharedKafka(),
        name: `saturated-${process.pid}`,
      });
    }, 120_000);
    afterAll(() => scene.stop());

    test('its queue is held near its target, it does all it can, quotas divide it, and the reserve holds', async () => {
      scene.setRates({ small: 100, large: 200, kept: 100 });
      await sleep(settleSec * 1000);
      const window = await scene.measure(measureSec);
      tell('saturated', window);
      const { small, large, kept } = window.admitted;
      expect(window.failed).toBe(0);
      expect(window.queue).toBeGreaterThan(QUEUE_TARGET / 2);
      expect(window.queue).toBeLessThan(QUEUE_TARGET * 1.5);
      expect(window.servedPerSecond).toBeGreaterThan(CAPACITY * 0.95);
      expect(kept).toBeGreaterThan(RESERVED * 0.9);
      expect(large / small).toBeGreaterThan(1.5);
      expect(large / small).toBeLessThan(2.7);
      expect((await scene.explain('large')).directions.publish.busy).toBe(true);
    }, 120_000);

    test('a zone that is bad alone throttles nobody', async () => {
      scene.setRates({ small: 20, large: 20, kept: 20 });
      for (let turn = 0; turn < 200 && ((await scene.queues()).b?.queue ?? 0) > 10; turn++) await sleep(100);
      await scene.setCapacity({ a: 1 });
      for (let turn = 0; turn < 200 && ((await scene.queues()).a?.queue ?? 0) < QUEUE_TARGET / 2; turn++) {
        await sleep(100);
      }
      const window = await scene.measure(measureSec);
      tell('one bad zone', window);
      const admitted = Object.values(window.admitted).reduce((sum, one) => sum + one, 0);
      expect(admitted).toBeGreaterThan(window.asked * 0.98);
      const { limiting } = (await scene.explain('large')).directions.publish;
      expect(limiting.leftOut).toMatchObject([{ zone: 'a', backend: 'db-a' }]);
      expect(limiting.deciding).toBeNull();
    }, 120_000);
  });
}

function tell(phase: string, { queue, servedPerSecond, admitted, asked }: Window): void {
  const { small, large, kept } = admitted;
  const parts = [small, large, kept].map((rate) => rate.toFixed(1)).join(' + ');
  console.log(
    `${phase}: queue ${queue.toFixed(0)} of ${QUEUE_TARGET}, ${servedPerSecond.toFixed(1)} of ${CAPACITY}/s done, ` +
      `admitted ${parts} of ${asked.toFixed(0)}/s asked`,
  );
}
