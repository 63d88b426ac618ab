import { expect, test } from 'vitest';
import { EXPORTERS, QuotaKeeperScene } from './quota-keeper-scene.js';

test('a group with mode: shadow has no quota in Kafka, and gives it back when it becomes one', async () => {
  const dispatch = { quota: { dispatch: { bytesPerSecond: 500 } } };
  const scene = new QuotaKeeperScene({
    groups: {
      shadow: { ...dispatch, mode: 'shadow' },
      planned: { ...dispatch, shadow: { quota: { dispatch: { bytesPerSecond: 5 } } } },
    },
    keys: { 'client:{id}': dispatch },
    kafkaQuotas: {
      exporters: EXPORTERS,
      entities: [
        { clientId: 'shadow', group: 'shadow' },
        { clientId: 'planned', group: 'planned' },
        { clientId: 'app', group: 'client:app' },
      ],
    },
  });
  try {
    await scene.keeper.start();
    const quotas = async () => {
      await scene.pass(3000);
      return scene.keeper.status.limits.map(({ group, quota }) => [group, quota]);
    };
    // A plan changes nothing in Kafka.
    expect(await quotas()).toEqual([
      ['planned', 500],
      ['client:app', 500],
    ]);
    scene.templates.define('key-template', 'client:{id}', { ...dispatch, mode: 'shadow' });
    scene.templates.apply();
    expect(await quotas()).toEqual([['planned', 500]]);
    const lines = scene.lines.filter(({ message }) => message.includes('mode: shadow'));
    expect(lines).toMatchObject([{ facts: { groups: ['shadow'] } }]);
  } finally {
    await scene.close();
  }
});
