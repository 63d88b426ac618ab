/** How often the parent is looked for: its end is noticed this late. */
const LOOK_MS = 200;

/**
 * Stops a node that npm has started when its parent is gone. `npx quotamesh run` and scripts of package.json run the
 * command below a shell. npm passes a SIGTERM to that shell, which ends without telling the node, so the node would go
 * on without a parent and hold its port and its share. A node that was started otherwise (nohup, a daemon) outlives its
 * parent on purpose.
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
