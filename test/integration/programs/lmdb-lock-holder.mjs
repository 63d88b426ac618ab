/**
 * A program that knows nothing of our gate: takes LMDB's write lock on the data file and freezes inside a transaction.
 *
 *     argv: JSON { path }; says "ready" before it freezes; after SIGCONT it ends by itself
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

const { path } = JSON.parse(process.argv[2]);
const dataFile = readdirSync(path).find((name) => name.endsWith('.mdb'));
const options = { noSubdir: true, keyEncoding: 'binary', encoding: 'binary', noSync: true, overlappingSync: false };
const db = open({ path: join(path, dataFile), mapSize: 2 ** 32, ...options });
process.send('ready', () => {
  db.transactionSync(() => process.kill(process.pid, 'SIGSTOP'));
  db.close().then(() => process.disconnect());
});
