import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { HttpConfig } from '../../../config/resolved/resolved-config.js';

/**
 * Listens on a socket file, which is removed at the close; replaces that of a dead process. The file gets its name once
 * its rights are set, so that nobody connects earlier, and so that Node removes no file of a newer process by that
 * name. Of two nodes that replace it in the same millisecond the later has it.
 */
export async function listenOnSocket(app: FastifyInstance, path: string, access: SocketAccess): Promise<string> {
  await rejectTaken(path);
  const unnamed = `${path}.${randomBytes(3).toString('hex')}`;
  await app.listen({ path: unnamed });
  try {
    chmodSync(unnamed, MODES[access]);
    renameSync(unnamed, path);
  } catch (error) {
    rmSync(unnamed, { force: true });
    throw error;
  }
  const own = lstatSync(path);
  app.server.once('close', () => {
    if (isSame(fileAt(path), own)) rmSync(path, { force: true });
  });
  return `unix:${path}`;
}

type SocketAccess = HttpConfig['socketAccess'];

const MODES: Readonly<Record<SocketAccess, number>> = { owner: 0o600, group: 0o660, everyone: 0o666 };

async function rejectTaken(path: string): Promise<void> {
  const found = fileAt(path);
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error('the file that is there is no socket');
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return;
    throw error;
  } finally {
    socket.destroy();
  }
  throw new Error('another process listens there');
}

function fileAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}
