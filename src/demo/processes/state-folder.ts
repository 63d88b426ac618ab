import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../package/package-root.js';

const EXAMPLES = new URL('examples/', PACKAGE_ROOT);

/** The quota and the settings of the cluster. */
export const DEMO_CONFIG_FILE = fileURLToPath(new URL('demo.yaml', EXAMPLES));
export const TRACE_FILE = fileURLToPath(new URL('traces/azure-llm-code-2023.csv', EXAMPLES));

/** Everything that the demonstration writes: the configuration the nodes read, the topic beside it, the logs. */
export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<StateFolder> {
    const folder = new StateFolder(await mkdtemp(join(tmpdir(), 'quotamesh-demo-')));
    // A copy, because a relative topic path starts at the folder of the configuration file.
    await copyFile(DEMO_CONFIG_FILE, folder.configFile);
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
