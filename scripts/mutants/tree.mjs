/** A copy of the repository in which one built module at a time is replaced, and in which tests run. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { transformSync } from 'rolldown/utils';
import { root } from '../freshness.mjs';

/** A mutant that never ends its loop once filled the memory of the machine with typed arrays, which no limit of the heap bounds. */
const MOST_MEMORY_KIB = 2 * 1024 * 1024;

const LEFT_OUT = new Set(['node_modules', '.git']);

/** Runs tests of the project `quick` in the given order, one after the other. A thread starts in half the time of a process. */
const CONFIG = `
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import base from './vitest.config.ts';

class AsGiven extends BaseSequencer {
  async sort(specifications) {
    const place = ({ moduleId }) => globalThis.quotameshTestOrder.findIndex((file) => moduleId.endsWith('/' + file));
    return [...specifications].sort((one, other) => place(one) - place(other));
  }
}
const quick = base.test.projects.find(({ test }) => test.name === 'quick');
export default defineConfig({
  ...quick,
  cacheDir: './vite-cache',
  test: {
    ...quick.test,
    include: ['test/**/*.test.ts'],
    exclude: [],
    maxWorkers: 1,
    pool: 'threads',
    sequence: { sequencer: AsGiven },
    // A busy machine must not notice mutants: only the limit of the whole run counts.
    testTimeout: 0,
    hookTimeout: 0,
  },
});
`;

export class Tree {
  #folder = mkdtempSync(join(tmpdir(), 'quotamesh-mutants-'));
  #judge = null;
  /** What the build has made of each module that was another one: the repository may be built anew meanwhile. */
  #asBuilt = new Map();

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
    const built = this.#built(module);
    this.#asBuilt.set(module, this.#asBuilt.get(module) ?? readFileSync(built));
    writeFileSync(built, code);
  }

  restore(module) {
    writeFileSync(this.#built(module), this.#asBuilt.get(module));
  }

  /**
   * Resolves with the first of these seeds whose story breaks a promise, in a process that loads the modules anew; null = none does.
   *
   * @returns {Promise<{ seed: number, promise: string } | null>}
   */
  async play(first, last) {
    const script = join(this.#folder, 'scripts/mutants/first-broken.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, String(first), String(last)]);
    return JSON.parse(stdout);
  }

  /**
   * Resolves with null if the time was up.
   *
   * @returns {Promise<{ passed: boolean, results: { file: string, ms: number, state: string, failed: string[] }[] } | null>}
   */
  async test(files, { bail, timeoutMs }) {
    this.#judge ??= await this.#start();
    const judge = this.#judge;
    judge.send({ files, bail });
    const heard = new AbortController();
    const { signal } = heard;
    const answer = once(judge, 'message', { signal }).then(([outcome]) => outcome);
    const death = once(judge, 'exit', { signal }).then(() => ({ passed: false, results: [] }));
    const late = setTimeout(timeoutMs, null, { signal });
    const all = [answer, death, late];
    for (const each of all) each.catch(() => undefined);
    const outcome = await Promise.race(all);
    heard.abort();
    if (outcome === null || outcome.results.length === 0) this.#end();
    return outcome;
  }

  remove() {
    this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #built(module) {
    return join(this.#folder, 'dist', module.replace(/\.ts$/, '.js'));
  }

  /** A group of its own, so that its workers end with it. The limit holds for each of its processes, typed arrays included. */
  async #start() {
    const command = `ulimit -d ${MOST_MEMORY_KIB}; exec "$0" "$@"`;
    const judge = spawn('sh', ['-c', command, process.execPath, join(root, 'scripts/mutants/judge.mjs')], {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=1024' },
    });
    await once(judge, 'message');
    return judge;
  }

  #end() {
    if (this.#judge !== null) {
      this.#judge.removeAllListeners();
      try {
        process.kill(-this.#judge.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    this.#judge = null;
  }
}
