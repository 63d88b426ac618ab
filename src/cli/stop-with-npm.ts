/** The end of a parent is seen so late. */
const LOOK_MS = 200;

/**
 * `npx quotamesh run` and scripts of package.json run the command below a shell: npm passes a SIGTERM to the shell, which
 * ends of it and tells nobody. The node would go on without a parent, and hold its port and its share. Started by npm it
 * stops when its parent is gone; started otherwise (nohup, a daemon) it is meant to outlive it.
 */
export function stopWithNpm(stop: () => void): void {
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    stop();
  }, LOOK_MS);
  look.unref();
}
