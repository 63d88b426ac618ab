import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../../src/base/package/package-root.js';

const BUILD_MS = 600_000;
let built: Promise<string> | null = null;

/**
 * The folder with the plugin for brokers and, in test-classes, the load, made of what the sources are now; `npm run build:pulsar` also
 * tests them. Maven makes nothing anew that has not changed.
 */
export function builtPlugin(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const project = join(fileURLToPath(PACKAGE_ROOT), 'adapters/pulsar');
  await promisify(execFile)('mvn', ['-q', '-B', '-DskipTests', '-f', project, 'package'], { timeout: BUILD_MS });
  return join(project, 'target');
}
