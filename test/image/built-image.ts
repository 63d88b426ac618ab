import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { ensureBaseImage } from './base-image.js';
import { buildah, CHROOT } from './buildah.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(PACKAGE_ROOT);
export const IMAGE = 'localhost/quotamesh';

/** What Docker would start, as whom, and how it asks whether that is well. */
export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** `docker build .` with the files of this clone, of which .dockerignore takes what it lets through. */
export async function buildImage(): Promise<ImageConfig> {
  await ensureBaseImage();
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-image-'));
  try {
    const fixed = ['--pull=never', '--layers=false', '--quiet', '--format', 'docker'];
    await buildah('build', ...CHROOT, ...fixed, ...(await npmOfThisMachine(folder)), '--tag', IMAGE, ROOT);
    return JSON.parse(await buildah('inspect', '--type', 'image', IMAGE)).Docker.config;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Registry, authorities and cached packages of this machine: mounted, and so no part of the image. */
async function npmOfThisMachine(folder: string): Promise<string[]> {
  const setting = async (name: string) => {
    return (await run('npm', ['config', 'get', name, '--loglevel=error'])).stdout.trim();
  };
  const [registry, cache, authorities] = [await setting('registry'), await setting('cache'), await setting('cafile')];
  const lines = [`registry=${registry}`, 'cache=/npm-cache', 'prefer-offline=true', 'update-notifier=false'];
  const mounts = [`${cache}:/npm-cache`];
  if (authorities !== 'null') {
    lines.push('cafile=/authorities.crt');
    mounts.push(`${authorities}:/authorities.crt:ro`);
  }
  const file = join(folder, 'npmrc');
  await writeFile(file, `${lines.join('\n')}\n`);
  return [...mounts, `${file}:/usr/local/etc/npmrc:ro`].flatMap((mount) => ['--volume', mount]);
}
