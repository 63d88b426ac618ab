import { EMBEDDED, embeddedWorld } from './embedded-world.js';
import { registryConformance } from './registry.js';
import { reportTopicConformance } from './report-topic.js';
import { signedRecords } from './signed-records.js';

reportTopicConformance('embedded', () => embeddedWorld(false), EMBEDDED);
// The registry's.
reportTopicConformance('embedded, durable', () => embeddedWorld(true), EMBEDDED);
for (const heals of [false, true]) {
  const name = heals ? 'embedded, registry' : 'embedded, reports';
  signedRecords(name, () => embeddedWorld(heals), { ...EMBEDDED, heals });
}
// Each change is written through to the disk, which others use, too.
registryConformance('embedded', () => embeddedWorld(true, 10_000));
