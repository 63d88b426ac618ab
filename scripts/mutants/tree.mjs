/** A copy of the repository in which one built module at a time is replaced, and in which tests run. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { transformSync } from 'rolldown/utils';
import { localBin, root } from '../freshness.mjs';

const LEFT_OUT = new Set(['node_modules', '.git']);

/** Runs tests of the project `quick` in the given order, one after the other, until one fails. */
const CONFIG = `
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import base from './vitest.config.ts';

const files = JSON.parse(readFileSync(new URL('mutants-tests.json', import.meta.url), 'utf8'));
class AsGiven extends BaseSequencer {
  async sort(specifications) {
    const place = ({ moduleId }) => files.findIndex((file) => moduleId.endsWith('/' + file));
    return [...specifications].sort((one, other) => place(one) - place(other));
  }
}
const quick = base.test.projects.find(({ test }) => test.name === 'quick');
export default defineConfig({
  ...quick,
  cacheDir: './vite-cache',
  test: { ...quick.test, include: files, exclude: [], maxWorkers: 1, sequence: { sequencer: AsGiven } },
});
`;

export class Tree {
  #folder = mkdtempSync(join(tmpdir(), 'quotamesh-mutants-'));

  constructor() {
    const filter = (source) => !LEFT_OUT.has(relative(root, source).split('/')[0]);
    cpSync(root, this.#folder, { recursive: true, filter });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    writeFileSync(join(this.#folder, 'vitest.mutants.config.mjs'), CONFIG);
  }

  /** Puts what this source compiles to in the place of the module. */
  put(module, source) {
    const { code, errors } = transformSync(module, source, { lang: 'ts' });
    if (errors.length > 0) throw new Error(`${module}: ${errors[0].message}`);
    writeFileSync(this.#built(module), code);
  }

  restore(module) {
    const built = this.#built(module);
    cpSync(join(root, relative(this.#folder, built)), built);
  }

  /**
   * Resolves with null if the time was up.
   *
   * @returns {Promise<{ passed: boolean, results: { file: string, ms: number, passed: boolean, message: string }[] } | null>}
   */
  async test(files, { bail, timeoutMs }) {
    writeFileSync(join(this.#folder, 'mutants-tests.json'), JSON.stringify(files));
    const report = join(this.#folder, 'mutants-report.json');
    rmSync(report, { force: true });
    const args = ['run', '--config', 'vitest.mutants.config.mjs', '--reporter=json', `--outputFile.json=${report}`];
    const code = await this.#run([localBin('vitest', 'vitest'), ...args, `--bail=${bail}`], timeoutMs);
    if (code === null) return null;
    return { passed: code === 0, results: resultsOf(report, this.#folder) };
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #built(module) {
    return join(this.#folder, 'dist', module.replace(/\.ts$/, '.js'));
  }

  /** Exit code, null where it was ended for its time. A group of its own, so that its workers end with it. */
  #run(args, timeoutMs) {
    const child = spawn(process.execPath, args, { cwd: this.#folder, stdio: 'ignore', detached: true });
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        process.kill(-child.pid, 'SIGKILL');
      }, timeoutMs);
      child.once('close', (code) => {
        clearTimeout(timer);
        resolve(isLate ? null : (code ?? 1));
      });
    });
  }
}

function resultsOf(report, folder) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.map(({ name, status, startTime, endTime, message }) => {
      return { file: relative(folder, name), ms: endTime - startTime, passed: status === 'passed', message };
    });
  } catch {
    // A module that cannot be loaded leaves no report.
    return [];
  }
}
