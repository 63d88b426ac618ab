import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../../base/package/package-root.js';

const EXAMPLES = new URL('examples/', PACKAGE_ROOT);

export const DEMO_CONFIG_FILE = fileURLToPath(new URL('demo.yaml', EXAMPLES));
export const STORY_CONFIG_FILE = fileURLToPath(new URL('story.yaml', EXAMPLES));
export const TRACE_FILE = fileURLToPath(new URL('traces/azure-llm-code-2023.csv', EXAMPLES));

/** Holds the demonstration's files: configuration, topic, logs. */
export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @param kafka brokers, host:port with commas; null = the nodes meet in this folder */
  static async create(configFile: string, kafka: string | null): Promise<StateFolder> {
    const folder = new StateFolder(await mkdtemp(join(tmpdir(), 'quotamesh-demo-')));
    // A copy, because a relative topic path starts at the configuration's folder.
    const text = await readFile(configFile, 'utf8');
    await writeFile(folder.configFile, kafka === null ? text : text.replace(/^topic:.*$/m, kafkaTopic(kafka)));
    return folder;
  }

  get configFile(): string {
    return join(this.path, 'node.yaml');
  }

  logFile(name: string): string {
    return join(this.path, `${name}.log`);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

function kafkaTopic(brokers: string): string {
  const name = `quotamesh-demo-${randomBytes(4).toString('hex')}`;
  return `topic: { kind: kafka, brokers: ${JSON.stringify(brokers.split(','))}, name: ${name} }`;
}
