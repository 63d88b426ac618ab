import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { HttpConfig } from '../../../config/resolved/resolved-config.js';

/**
 * Listens on a socket file, which is taken away when the server closes. The file of a process that has ended without
 * that is replaced; of two nodes that replace it in the same millisecond the later one has it.
 *
 * The socket gets its name only when its rights are set, so that nobody connects before they are. It also keeps Node
 * from taking the file away by its name, which may belong to a newer process by then.
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
    // Nobody listens, or the file has gone meanwhile. Whatever else it is, somebody may be there.
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
