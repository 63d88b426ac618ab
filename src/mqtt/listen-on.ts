import type { AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { QuotameshError } from '../errors/quotamesh-error.js';

/** Resolves with the URL, whose port is the real one where 0 was asked for; rejects with MQTT_ADDRESS_IN_USE. */
export async function listenOn(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  const shown = host.includes(':') ? `[${host}]` : host;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const facts = { address: `${shown}:${port}`, reason: cause.message };
      reject(new QuotameshError('MQTT_ADDRESS_IN_USE', facts, { cause }));
    });
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const scheme = server instanceof TlsServer ? 'mqtts' : 'mqtt';
  return `${scheme}://${shown}:${(server.address() as AddressInfo).port}`;
}
