import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeBinary } from '../../scripts/node-binary.mjs';
import { buildah, CHROOT } from './buildah.js';

const run = promisify(execFile);

/** As the Dockerfile names it. */
const NAME = 'docker.io/library/node:22-slim';
const NPM = '/usr/local/lib/node_modules/npm';

/**
 * What `node:22-slim` is, as far as the Dockerfile relies on it: Debian's essential packages, Node.js 22 and npm below
 * /usr/local, and the user `node`, 1000. Kept for further runs.
 */
export async function ensureBaseImage(): Promise<void> {
  if ((await buildah('images', '--quiet', '--filter', `reference=${NAME}`)) !== '') return;
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-base-'));
  try {
    const tar = join(folder, 'debian.tar');
    await run('mmdebstrap', ['--quiet', '--variant=minbase', 'bookworm', tar], { timeout: 600_000 });
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, tar, '/');
    await buildah('copy', '--quiet', container, nodeBinary('22'), '/usr/local/bin/node');
    await buildah('copy', '--quiet', container, await npmFolder(), NPM);
    const steps = [
      `ln -s ${NPM}/bin/npm-cli.js /usr/local/bin/npm`,
      'groupadd --gid 1000 node',
      'useradd --uid 1000 --gid node --create-home node',
    ];
    await buildah('run', ...CHROOT, container, '--', 'sh', '-c', steps.join(' && '));
    await buildah('commit', '--quiet', '--rm', container, NAME);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The npm of this machine. */
async function npmFolder(): Promise<string> {
  const { stdout } = await run('npm', ['root', '--global', '--loglevel=error']);
  const folder = join(stdout.trim(), 'npm');
  if (!existsSync(folder)) throw new Error(`npm is not in ${folder}, where \`npm root --global\` says that it is`);
  return folder;
}
