import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { type GuardedProcess, startGuarded } from '../kafka/guarded-process.js';

const run = promisify(execFile);
const END_PATIENCE_MS = 20_000;

/** `quotamesh record` beside the nodes: it goes over the first node's links, with all of their faults. */
export class Recorder {
  readonly #file: string;
  readonly #process: GuardedProcess;

  private constructor(file: string, process: GuardedProcess) {
    this.#file = file;
    this.#process = process;
  }

  static async start(configFile: string, file: string): Promise<Recorder> {
    const args = [COMMAND_FILE, 'record', '--config', configFile, '--out', file];
    return new Recorder(file, await startGuarded(process.execPath, args));
  }

  /** Ends the recording and plays it again; returns what each strategy would have given, or throws why it could not. */
  async replay(group: string): Promise<string> {
    const wasRunning = this.#process.isRunning();
    this.#process.signal('SIGINT');
    await Promise.race([this.#process.ended, sleep(END_PATIENCE_MS, undefined, { ref: false })]);
    this.stop();
    if (!wasRunning) throw new Error(`the recorder has ended by itself: ${this.#process.errorLines()}`);
    const { stdout } = await run(process.execPath, [COMMAND_FILE, 'sim', 'replay', this.#file, '--group', group]);
    return stdout;
  }

  stop(): void {
    this.#process.signal('SIGKILL');
  }
}
