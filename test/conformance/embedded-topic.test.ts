import { EMBEDDED, embeddedWorld } from './embedded-world.js';
import { registryConformance } from './registry.js';
import { reportTopicConformance } from './report-topic.js';
import { signedRecords } from './signed-records.js';

reportTopicConformance('embedded', (timeoutMs) => embeddedWorld(false, timeoutMs), EMBEDDED);
// The registry's.
reportTopicConformance('embedded, durable', (timeoutMs) => embeddedWorld(true, timeoutMs), EMBEDDED);
for (const heals of [false, true]) {
  const name = heals ? 'embedded, registry' : 'embedded, reports';
  signedRecords(name, (timeoutMs) => embeddedWorld(heals, timeoutMs), { ...EMBEDDED, heals });
}
// Each change is written through to the disk, which others use, too.
registryConformance('embedded', () => embeddedWorld(true, 10_000));
