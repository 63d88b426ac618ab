import { createServer } from 'node:net';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ask } from '../node-client/node-address.js';
import { type Finding, good, noted, wrong } from './finding.js';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Tries to listen at an address, and leaves it. */
export async function listenerFinding(
  about: 'http' | 'mqtt',
  code: 'HTTP_ADDRESS_IN_USE' | 'MQTT_ADDRESS_IN_USE',
  { host, port }: Address,
  timeoutMs: number,
): Promise<Finding> {
  const address = `${host}:${port}`;
  if (port === 0) return good(about, `${host}, at any free port`);
  const refusal = await refusalOf({ host, port });
  if (refusal === null) return good(about, `${address} is free`);
  if (refusal.code === 'EADDRINUSE' && about === 'http' && (await isNode({ host, port }, timeoutMs))) {
    return noted(about, `a node listens at ${address} already; another one needs another --http HOST:PORT`);
  }
  return wrong(about, new QuotameshError(code, { address, reason: refusal.message }));
}

function refusalOf(address: Address): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(address, () => server.close(() => resolve(null)));
  });
}

/** Detects a node within half of the time, to report silent programs as such. */
async function isNode({ host, port }: Address, timeoutMs: number): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const asked = { url: new URL(`http://${name}:${port}`), token: null, tls: {} };
  try {
    const { text } = await ask(asked, { method: 'GET', path: '/livez', timeoutMs: timeoutMs / 2 });
    return JSON.parse(text).alive === true;
  } catch {
    return false;
  }
}
