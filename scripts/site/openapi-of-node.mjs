import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const CONFIG = 'cluster: site\nnode: a\ntopic: memory\nhttp: { host: 127.0.0.1, port: 0 }\ngroups: { orders: {} }\n';

/** What a node that runs says of its routes. */
export async function openapiOfNode(command) {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-site-'));
  const config = join(folder, 'node.yaml');
  writeFileSync(config, CONFIG);
  const node = spawn(process.execPath, [command, 'run', '--config', config], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await addressOf(node);
    return await (await fetch(`${url}/openapi.json`)).json();
  } finally {
    node.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function addressOf(node) {
  for await (const line of createInterface(node.stdout)) {
    const { msg, url } = JSON.parse(line);
    if (msg === 'http listening') return url;
  }
  throw new Error('the node ended before it listened');
}
