import { join, resolve } from 'node:path';
import { topicKind } from '../../config/setting/topic-kind.js';

export const EMBEDDED_TOPIC = topicKind({
  says: 'the processes of one machine; needs a local (not a network) file system',
  sharedBy: 'processes',
  strictLacks: null,
  settings: {
    path: {
      kind: 'text',
      default: './state',
      missedBy: 'several clusters on a machine',
      buys: 'The folder that the processes of a cluster share. Relative paths start at that of the configuration file.',
      costs:
        'A few MB of disk; it must lie on a local file system. On Linux its reports end with the machine: after ' +
        'a restart all buckets are full (docs/guide/tokens.md).',
    },
  },
  constants: { appendTimeoutMs: 2000 },
  complete: (read, { folder }) => ({ ...read, path: resolve(folder, String(read.path)) }),
  configOf: (read) => read,
  open: async (config, { log, telemetry }) => {
    const { openToOthers } = await import('./private-folder.js');
    const { EmbeddedTopic } = await import('./embedded-topic.js');
    const { loadLmdb } = await import('./load-lmdb.js');
    const reason = log === 'reports' ? await openToOthers(config.path) : null;
    if (reason !== null) telemetry.log('warn', 'folder of the topic is open to others', { path: config.path, reason });
    // A package that is missing ends the start here; inside the topic it would be an outage that is waited for.
    await loadLmdb();
    // A strict log is of one boot, as reports are: after it nobody holds anything.
    const kept = { ...config, path: join(config.path, log), durable: log !== 'strict' };
    return new EmbeddedTopic(log === 'reports' ? config : kept);
  },
  examine: async (config, visit) => (await import('./examine-embedded.js')).examineEmbedded(config, visit),
});
