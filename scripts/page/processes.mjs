import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../freshness.mjs';

const READY_PATIENCE_MS = 120_000;
/** What a node that could not start has said last. */
const SAID_LENGTH_MAX = 2000;

/** The processes of one cluster and their folder. `end` ends and removes all of it. */
export class Processes {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-page-'));
  #children = [];

  /** Starts a node that listens at a port of its own; resolves when it is ready. */
  async node(name, configFile) {
    const url = `http://127.0.0.1:${await freePort()}`;
    const command = [join(root, 'dist/bin/quotamesh.js'), 'run', '--config', configFile];
    const child = this.start([...command, '--node', name, '--http', url.slice('http://'.length)], 'pipe');
    let said = '';
    child.stderr.on('data', (text) => {
      said = `${said}${text}`.slice(-SAID_LENGTH_MAX);
    });
    const deadline = performance.now() + READY_PATIENCE_MS;
    while (!(await isReady(url))) {
      if (child.exitCode !== null) throw new Error(`node ${name} ended with exit code ${child.exitCode}:\n${said}`);
      if (performance.now() > deadline) throw new Error(`node ${name} was not ready in ${READY_PATIENCE_MS} ms`);
      await sleep(200);
    }
    return { name, url, pid: child.pid, kill: () => child.kill('SIGKILL') };
  }

  /** Starts a script of Node.js that can send messages. @param stderr where its errors go */
  start(command, stderr = 'inherit') {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', stderr, 'ipc'] });
    this.#children.push(child);
    return child;
  }

  end() {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function isReady(url) {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
