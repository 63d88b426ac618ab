/**
 * Holds on to a snapshot of the log, as a reader does that is killed in the middle of reading.
 *
 *     argv: JSON { path }; says "ready" once it holds it
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

const { path } = JSON.parse(process.argv[2]);
const dataFile = readdirSync(path).find((name) => name.endsWith('.mdb'));
const options = { noSubdir: true, keyEncoding: 'binary', encoding: 'binary', noSync: true, overlappingSync: false };
const db = open({ path: join(path, dataFile), mapSize: 2 ** 32, ...options });
const transaction = db.useReadTransaction();
db.get(Buffer.from('S'), { transaction });
process.send('ready');
setInterval(() => {}, 1000);
