import { expect, test } from 'vitest';
import { EXPORTERS, QuotaKeeperScene } from './quota-keeper-scene.js';

const dispatch = (bytesPerSecond: number) => ({ quota: { dispatch: { bytesPerSecond } } });

test('a keeper follows templates and single keys that are defined at run time', async () => {
  const scene = new QuotaKeeperScene({
    keys: { 'client:{id}': dispatch(500) },
    kafkaQuotas: { exporters: EXPORTERS, entities: [{ clientId: 'app', group: 'client:app' }] },
  });
  try {
    await scene.keeper.start();
    const quotas = async () => {
      await scene.pass(3000);
      return scene.keeper.status.limits.map(({ group, quota }) => [group, quota]);
    };
    expect(await quotas()).toEqual([['client:app', 500]]);
    scene.templates.define('key-template', 'client:{id}', dispatch(900));
    scene.templates.apply();
    expect(await quotas()).toEqual([['client:app', 900]]);
    scene.templates.define('key', 'client:app', dispatch(700));
    scene.templates.apply();
    expect(await quotas()).toEqual([['client:app', 700]]);
  } finally {
    await scene.close();
  }
});
