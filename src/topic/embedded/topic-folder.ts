import { chmod, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { findDamage, newestMeta, readMeta } from './find-damage.js';
import { bootId } from './machine-clock.js';
import { fileModeIn, makePrivateFolder } from './private-folder.js';
import { damagedLog } from './topic-error.js';

const FORMAT = 1;
const MARKER = 'quotamesh-topic';
const MARKER_TEXT = `quotamesh embedded topic, format ${FORMAT}\n`;

const DATA_FILE = /^reports-(\w+)\.mdb(-lock)?$/;
/** Milliseconds after which another boot's files are removed. Machines may share the folder. */
const LEFTOVER_AGE_MS = 3_600_000;

/**
 * Files of an embedded topic's folder:
 *
 *     quotamesh-topic           tells the format
 *     reports-<boot>.mdb        the log of this boot of the machine (LMDB)
 *     reports-<boot>.mdb-lock   LMDB's table of readers, part of the log: it stays when nobody has it open
 *     .process-<pid>-<random>   sockets of the processes that have it open (PidClaim)
 *
 * A durable log has one file for ever, `log.mdb`. Others have one per boot: unsynced (LogStore), they may be damaged by
 * a loss of power, and all of this machine's nodes ended with the boot.
 */
export interface TopicFolder {
  readonly path: string;
  readonly dataFile: string;
  /** Mode of new files in it. */
  readonly fileMode: number;
  /** Id for every process that uses this folder, under whatever path. */
  readonly gateName: string;
}

export async function makeTopicFolder(path: string, durable = false): Promise<TopicFolder> {
  await makePrivateFolder(path);
  const { dev, ino } = await stat(path, { bigint: true });
  const dataFile = durable ? 'log.mdb' : await reportsFile();
  const fileMode = await fileModeIn(path);
  return { path, fileMode, dataFile: join(path, dataFile), gateName: `quotamesh-embedded-topic/${dev}:${ino}` };
}

/** Tests if a log of reports of this boot exists; makes nothing. */
export async function hasReports(path: string): Promise<boolean> {
  return stat(join(path, await reportsFile())).then(
    () => true,
    () => false,
  );
}

async function reportsFile(): Promise<string> {
  return `reports-${await bootName()}.mdb`;
}

/** Verifies or writes the marker, checks the data file, removes leftovers. Call it only inside the gate. */
export async function claimTopicFolder(folder: TopicFolder): Promise<void> {
  await claimMarker(folder);
  await checkDataFile(folder);
  await removeLeftovers(folder);
}

async function claimMarker({ path, fileMode }: TopicFolder): Promise<void> {
  const marker = join(path, MARKER);
  const found = await readFile(marker, 'utf8').catch(absent);
  if (found === undefined) {
    // Renamed when whole, so that nobody reads half of it.
    const written = `${marker}.${process.pid}`;
    await writeFile(written, MARKER_TEXT);
    await chmod(written, fileMode);
    await rename(written, marker);
  } else if (found !== MARKER_TEXT) {
    throw unusable(
      path,
      `${MARKER} says ${JSON.stringify(found.trim().slice(0, 80))}, this version reads format ${FORMAT}`,
    );
  }
}

/** Refuses a foreign or damaged data file: LMDB trusts what it maps, and would die. */
async function checkDataFile({ path, dataFile }: TopicFolder): Promise<void> {
  const file = await open(dataFile, 'r').catch(absent);
  if (!file) return;
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    if (!(await readMeta(file, 0))) throw unusable(path, `${dataFile} is not a log of quotamesh`);
    const damage = await findDamage(dataFile);
    if (damage !== undefined) throw damagedLog(path, `${dataFile}: ${damage}`);
    const meta = await newestMeta(file);
    const bytes = meta ? (meta.lastPage + 1) * meta.pageSize : 0;
    // A file may end before a free last page, whose first use would be a bus error.
    if (size < bytes) await truncate(dataFile, bytes);
  } finally {
    await file.close();
  }
}

async function removeLeftovers({ path, dataFile }: TopicFolder): Promise<void> {
  for (const name of await readdir(path)) {
    const file = join(path, name);
    if (!DATA_FILE.test(name) || file.startsWith(dataFile)) continue;
    const { mtimeMs } = await stat(file);
    if (Date.now() - mtimeMs > LEFTOVER_AGE_MS) await rm(file, { force: true });
  }
}

/** Names the boot; one name for ever where the system has none. */
async function bootName(): Promise<string> {
  return (await bootId()).replace(/\W/g, '').slice(0, 8);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

function unusable(path: string, fact: string): QuotameshError {
  return new QuotameshError('TOPIC_SETTINGS', {
    topic: path,
    reason: `${fact}; use another path, or remove the folder while no node runs on it`,
  });
}
