import { test } from 'vitest';
import { QuotaScene } from './quota-scene.js';

test.each([1, 11])('windows %d', (windows) => {
  const scene = new QuotaScene({ windows });
  scene.wants(800_000, 100_000);
  const rows: string[] = [];
  for (let s = 0; s < 60; s++) {
    if (s === 30) scene.wants(100_000, 800_000);
    const got = scene.run(1);
    rows.push(`${s}: ${scene.valueInForce} ${got.map((g) => Math.round(g / 1000)).join('+')}`);
  }
  console.log(rows.join('\n'), scene.keeper('a').lines, scene.written.length);
});
