import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fetchJars } from '../kafka/distribution.js';

const run = promisify(execFile);

const VERSION = '4.0.8';
/** Its own default is 300 s, which it waits for an answer that it cannot read. */
const REQUEST_TIMEOUT_S = 20;
/** A start of the JVM takes 1 to 2 s of CPU. */
const CALL_TIMEOUT_MS = 60_000;
const JVM_FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m'];
const TOOL = 'org.apache.pulsar.admin.cli.PulsarAdminTool';
const SHELL = 'org.apache.pulsar.shell.PulsarShell';
const PROMPT = /(?:^|\n)[^\n]*\(127\.0\.0\.1\)> $/;

export interface Said {
  readonly out: string;
  readonly error: string;
}

export interface Ended extends Said {
  readonly exitCode: number;
}

/** Pulsar's own admin client, unmodified. */
export class PulsarAdmin {
  readonly classPath: string;

  constructor(classPath: string) {
    this.classPath = classPath;
  }

  /** 130 jars, 82 MB, once into the cache of the user. Rejects with one line where there is no Java or no Maven. */
  static async fetch(): Promise<PulsarAdmin> {
    const jars = { pom: join(import.meta.dirname, 'pom.xml'), name: `pulsar-admin-${VERSION}` };
    await run('java', ['-version']).catch(() => {
      throw new Error('these tests need Java 17 or newer (Debian: apt-get install default-jre-headless maven)');
    });
    const folder = await fetchJars(jars).catch((error: Error) => {
      throw new Error(`Pulsar's admin client cannot be fetched: ${error.message.split('\n')[0]}`);
    });
    return new PulsarAdmin(join(folder, '*'));
  }

  /** One command in a JVM of its own, as `pulsar-admin` runs it: `resourcegroups`, `list`. */
  async call(url: string, ...words: readonly string[]): Promise<Ended> {
    const own = ['/dev/null', '--admin-url', url, '--request-timeout', String(REQUEST_TIMEOUT_S)];
    const args = [...JVM_FLAGS, '-cp', this.classPath, TOOL, ...own, ...words];
    try {
      const { stdout, stderr } = await run('java', args, { timeout: CALL_TIMEOUT_MS });
      return { exitCode: 0, out: stdout.trim(), error: stderr.trim() };
    } catch (failure) {
      const { code, stdout = '', stderr = '' } = failure as { code?: number; stdout?: string; stderr?: string };
      return { exitCode: code ?? -1, out: stdout.trim(), error: stderr.trim() };
    }
  }

  /** `pulsar-shell`: the same commands one after the other in one JVM, which ends with our end of its input. */
  async shell(url: string): Promise<PulsarShell> {
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-pulsar-'));
    const config = join(folder, 'client.conf');
    await writeFile(config, `webServiceUrl=${url}\n`);
    const own = [`-DshellHistoryDirectory=${folder}`, '-cp', this.classPath, SHELL, '-c', config];
    const shell = new PulsarShell(folder, [...JVM_FLAGS, ...own]);
    await shell.untilPrompt();
    return shell;
  }
}

export class PulsarShell {
  readonly #folder: string;
  readonly #child;
  readonly #ended: Promise<void>;
  #isRunning = true;
  #out = '';
  #error = '';

  constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.#child = spawn('java', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString();
    });
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#error += chunk.toString();
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#isRunning = false;
        resolve();
      });
    });
  }

  /** It tells no exit code: what failed has an error. */
  async say(...words: readonly string[]): Promise<Said> {
    this.#out = '';
    this.#error = '';
    const quoted = words.map((word) => (/^[\w./:-]+$/.test(word) ? word : `"${word}"`));
    this.#child.stdin.write(`admin ${quoted.join(' ')}\n`);
    await this.untilPrompt();
    return { out: this.#out.replace(PROMPT, '').trim(), error: this.#error.trim() };
  }

  async untilPrompt(): Promise<void> {
    const deadline = performance.now() + CALL_TIMEOUT_MS;
    while (!PROMPT.test(this.#out)) {
      if (!this.#isRunning || performance.now() > deadline) throw new Error(`no prompt: ${this.#out}${this.#error}`);
      await sleep(10);
    }
    // An error was written before the prompt, and waits in the other pipe at the most.
    await sleep(10);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
