import { createServer } from 'node:net';

/** Finds `count` consecutive loopback ports, the wanted ones or any; another program may be faster. */
export async function portsFor(count: number, firstWanted: number): Promise<number[]> {
  const wanted = Array.from({ length: count }, (_, offset) => firstWanted + offset);
  const free = await Promise.all(wanted.map(isFree));
  return free.every(Boolean) ? wanted : freePorts(count);
}

async function isFree(port: number): Promise<boolean> {
  try {
    await (await hold(port)).release();
    return true;
  } catch {
    return false;
  }
}

/** Finds free loopback ports, held at once to differ. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => hold(0)));
  await Promise.all(held.map(({ release }) => release()));
  return held.map(({ port }) => port);
}

function hold(port: number): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      const release = () => new Promise<void>((released) => server.close(() => released()));
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port, release });
    });
  });
}
