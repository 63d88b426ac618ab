import { type ChildProcess, spawn } from 'node:child_process';

/**
 * A child process that cannot outlive us. A shell stands between us and it and holds the read end of a pipe whose
 * write end only we have: when we are gone, however that happened, the pipe closes and the shell kills the child with
 * -9 (which also ends a frozen one) and runs `cleanUp`.
 */
export interface GuardedProcess {
  readonly pid: number;
  /** Last lines of the child's standard error, for the message of a failed start. */
  errorLines(): string;
  /** Resolves when the child has ended. */
  readonly ended: Promise<void>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
}

// The guard is told to stop before the child's pid can be reused. Background jobs of sh read /dev/null: hence fd 3.
export const GUARD = `
  exec 3<&0
  "$@" </dev/null & child=$!
  echo "$child"
  { cat <&3 >/dev/null; kill -9 "$child"; eval "$CLEAN_UP"; } 2>/dev/null & guard=$!
  wait "$child"
  kill "$guard" 2>/dev/null
`;

const ERROR_TAIL_BYTES = 8_000;

export async function startGuarded(command: string, args: readonly string[], cleanUp = ':'): Promise<GuardedProcess> {
  const shell = spawn('sh', ['-c', GUARD, 'guard', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, CLEAN_UP: cleanUp },
    // A group of its own: Ctrl-C in the terminal reaches us, and we stop the broker in order.
    detached: true,
  });
  // Writing is never done, so EPIPE cannot happen; a reset when the shell ends can.
  shell.stdin?.on('error', () => {});
  let tail = '';
  shell.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-ERROR_TAIL_BYTES);
  });
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  const pid = await childPid(shell);
  let running = true;
  void ended.then(() => {
    running = false;
  });
  return {
    pid,
    ended,
    errorLines: () => tail.trim(),
    isRunning: () => running,
    signal: (name) => {
      if (running) signalIfThere(pid, name);
    },
  };
}

/** A process that has ended is told of only when its pipes are closed. */
function signalIfThere(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function childPid(shell: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    shell.once('error', reject);
    shell.once('close', () => reject(new Error('the guard ended before it had started anything')));
    shell.stdout?.once('data', (line: Buffer) => resolve(Number(line.toString().trim().split('\n')[0])));
    // The child writes to the same pipe: it must be drained.
    shell.stdout?.resume();
  });
}
