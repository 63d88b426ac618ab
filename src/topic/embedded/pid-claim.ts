import { randomBytes } from 'node:crypto';
import { chmod, type FileHandle, open, readdir, readlink, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { fileModeIn } from './private-folder.js';

/** Process as its PID namespace knows it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** `pid:[4026531836]`, the same within a container. */
  readonly namespace: string;
}

/** Milliseconds for a process to answer; a silent one is alive and frozen. */
const ANSWER_MS = 1000;
const FROZEN = 'it does not answer';
/** Answer of a socket without a listener; any other refusal comes from the living. */
const GONE = 'gone';
const UNKNOWN = 'unknown';
/** Others, as EACCES, decide nothing: LMDB's files refuse who may not connect here. */
const REFUSALS = new Map<string | undefined, string>([
  ['ECONNREFUSED', GONE],
  ['ENOENT', GONE],
  // More connections wait than a living process has room for.
  ['EAGAIN', 'held'],
]);

/**
 * Holds a process id of a folder against other PID namespaces. LMDB knows readers by process id, in its table and as a
 * lock: a second process with the same id, of another container, fails with a TypeError ten seconds later. So each
 * process listens on a socket in the folder, `.process-<pid>-<random>`, and answers with its namespace: such containers
 * may share nothing but files. The kernel closes it with its process; a dead one refuses to connect and is removed. Of
 * two that begin at once, the lower name stays.
 */
export class PidClaim {
  /** By folder: topics of one process share its claim. */
  static readonly #held = new Map<string, { readonly claim: PidClaim; holders: number }>();
  readonly #folder: string;
  readonly #server: Server;
  readonly #handle: FileHandle;

  private constructor(folder: string, server: Server, handle: FileHandle) {
    this.#folder = folder;
    this.#server = server;
    this.#handle = handle;
  }

  /** Claims the id. Rejects with TOPIC_PID_TAKEN; resolves with null without Linux, /proc or sockets in the folder. */
  static async take(folder: string, identity?: ProcessIdentity): Promise<PidClaim | null> {
    const own = identity ?? (await ownIdentity());
    if (own === null) return null;
    const held = PidClaim.#held.get(folder);
    if (held !== undefined && identity === undefined) {
      held.holders++;
      return held.claim;
    }
    const claim = await PidClaim.#listen(folder, own);
    if (claim !== null && identity === undefined) PidClaim.#held.set(folder, { claim, holders: 1 });
    return claim;
  }

  static async #listen(folder: string, own: ProcessIdentity): Promise<PidClaim | null> {
    const name = `.process-${own.pid}-${randomBytes(6).toString('hex')}`;
    const handle = await open(folder).catch(() => null);
    if (handle === null) return null;
    const state = { isHeld: false };
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(`${state.isHeld ? 'held' : 'new'} ${own.namespace}`);
    });
    if (!(await listens(server, pathIn(handle, name)))) {
      await handle.close();
      return null;
    }
    await chmod(pathIn(handle, name), await fileModeIn(folder));
    server.unref();
    const claim = new PidClaim(folder, server, handle);
    try {
      await refuseTaken({ folder, handle, name }, own);
    } catch (error) {
      await claim.#end();
      throw error;
    }
    state.isHeld = true;
    return claim;
  }

  async release(): Promise<void> {
    const held = PidClaim.#held.get(this.#folder);
    if (held?.claim === this) {
      if (--held.holders > 0) return;
      PidClaim.#held.delete(this.#folder);
    }
    await this.#end();
  }

  /** Ends the claim; removing its file needs the open folder. */
  async #end(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#handle.close();
  }
}

interface Claimed {
  readonly folder: string;
  readonly handle: FileHandle;
  readonly name: string;
}

async function refuseTaken({ folder, handle, name }: Claimed, own: ProcessIdentity): Promise<void> {
  for (const other of await readdir(folder)) {
    if (other === name || !other.startsWith('.process-')) continue;
    const isAsked = other.startsWith(`.process-${own.pid}-`);
    const answer = await ask(pathIn(handle, other), isAsked);
    if (answer === GONE) await rm(`${folder}/${other}`, { force: true });
    if (!isAsked || answer === GONE || answer === UNKNOWN) continue;
    const [stage, namespace] = answer.split(' ');
    const isOwn = namespace === own.namespace;
    const isLater = stage === 'new' && other > name;
    if (isOwn || isLater) continue;
    throw new QuotameshError('TOPIC_PID_TAKEN', { topic: folder, pid: own.pid, other: namespace ?? FROZEN });
  }
}

/** Connects, and waits for the answer if it `isAsked`. */
function ask(path: string, isAsked: boolean): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path);
    const finish = (said: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(said);
    };
    const timer = setTimeout(() => finish('held'), ANSWER_MS);
    if (!isAsked) socket.on('connect', () => finish(UNKNOWN));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('end', () => finish(answer === '' ? 'held' : answer));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => finish(REFUSALS.get(code) ?? UNKNOWN));
  });
}

function listens(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ path, exclusive: true, readableAll: true, writableAll: true }, () => resolve(true));
  });
}

/** Shortens a path: a socket's has 107 bytes at most. */
function pathIn({ fd }: FileHandle, name: string): string {
  return `/proc/self/fd/${fd}/${name}`;
}

async function ownIdentity(): Promise<ProcessIdentity | null> {
  if (process.platform !== 'linux') return null;
  const namespace = await readlink('/proc/self/ns/pid').catch(() => null);
  return namespace === null ? null : { pid: process.pid, namespace };
}
