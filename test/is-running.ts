/** Signal 0 reaches a process that is dead but not yet reaped by its parent, too. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
