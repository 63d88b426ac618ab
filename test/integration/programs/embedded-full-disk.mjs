/**
 * A service with an embedded topic and no handler for rejections that nobody awaits, as most services have none. Its disk
 * is as small as the shell that starts it says (`ulimit -f`). Prints what the appends ended with.
 *
 *     argv: folder of the topic
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedTopic } from '../../../dist/src/topic/embedded/embedded-topic.js';

const topic = new EmbeddedTopic({ path: process.argv[2], appendTimeoutMs: 2000 });
await topic.open({
  onEpoch: () => {},
  onRecords: () => {},
  onCaughtUp: () => {},
  onLost: () => {},
  onRecovered: () => {},
  onFailed: () => {},
});
const failures = [];
for (let n = 0; failures.length < 3 && n < 1000; n++) {
  const append = topic.append([{ partition: 0, key: `key-${n}`, value: Buffer.alloc(60_000) }]);
  await append.catch((error) => failures.push(error.code));
  // The loop turns, so that what nobody has caught comes to light.
  await sleep(10);
}
await topic.close();
process.stdout.write(JSON.stringify(failures));
