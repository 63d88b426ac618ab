import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchJars } from '../kafka/distribution.js';

const run = promisify(execFile);

const VERSION = '4.0.8';
/** Its own default is 300 s, which it waits for an answer that it cannot read. */
const REQUEST_TIMEOUT_S = 20;
/** A start of the JVM takes 1 to 2 s of CPU. */
const CALL_TIMEOUT_MS = 60_000;
const JVM_FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m'];
const MAIN = 'org.apache.pulsar.admin.cli.PulsarAdminTool';

export interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

/** Pulsar's own admin client, unmodified. */
export class PulsarAdmin {
  readonly #classPath: string;

  constructor(classPath: string) {
    this.#classPath = classPath;
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

  /** `resourcegroups`, `list`. */
  async call(url: string, ...words: readonly string[]): Promise<Said> {
    const own = ['/dev/null', '--admin-url', url, '--request-timeout', String(REQUEST_TIMEOUT_S)];
    const args = [...JVM_FLAGS, '-cp', this.#classPath, MAIN, ...own, ...words];
    try {
      const { stdout, stderr } = await run('java', args, { timeout: CALL_TIMEOUT_MS });
      return { exitCode: 0, out: stdout.trim(), error: stderr.trim() };
    } catch (failure) {
      const { code, stdout = '', stderr = '' } = failure as { code?: number; stdout?: string; stderr?: string };
      return { exitCode: code ?? -1, out: stdout.trim(), error: stderr.trim() };
    }
  }
}
