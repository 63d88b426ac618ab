import { runProgram } from '../../../src/tools/cli/program.js';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end in this process: a start of its own takes longer than most commands. */
export function runInProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const run = before.then(() => runAlone(args, { ...plainEnvironment(), ...env }));
  before = run.catch(() => undefined);
  return run;
}

/** Leaves out QUOTAMESH_… of whoever runs the tests. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('QUOTAMESH_')));
}

/** Keeps commands apart: output, environment and exit code are the whole process's. */
let before: Promise<unknown> = Promise.resolve();

/** Stands for the end of the process. */
class Exited extends Error {}

async function runAlone(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const { exit, exitCode, env: ownEnv } = process;
  const listeners = [process.stdout, process.stderr].map((stream) => stream.listeners('error'));
  let code: number | null = null;
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)];
  process.exit = (given) => {
    code ??= Number(given ?? 0);
    throw new Exited();
  };
  process.exitCode = undefined;
  process.env = env;
  try {
    await runProgram(['node', 'quotamesh', ...args]);
    // Callbacks of the last writes, one of which may end the process.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
  } finally {
    stdout.end();
    stderr.end();
    code ??= Number(process.exitCode ?? 0);
    Object.assign(process, { exit, exitCode, env: ownEnv });
    for (const [at, stream] of [process.stdout, process.stderr].entries()) {
      for (const listener of stream.listeners('error')) {
        if (!listeners[at]?.includes(listener)) stream.off('error', listener as () => void);
      }
    }
  }
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Collects what is written to a stream until `end`. */
function captured(stream: NodeJS.WriteStream): { text: string; end: () => void } {
  const { write } = stream;
  const seen = { text: '', end: () => void Object.assign(stream, { write }) };
  const collect = (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    seen.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined;
    if (done !== undefined) setImmediate(() => unlessExited(done));
    return true;
  };
  Object.assign(stream, { write: collect });
  return seen;
}

function unlessExited(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
  }
}
