import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

type Interruption = 'cuts the connection' | 'refuses';

/** A way to a Redis, which interrupts the next command that holds a text; it ends with the test. */
export class InterruptingProxy {
  readonly address: string;
  interrupted = 0;
  #next: { readonly text: string; readonly how: Interruption } | null = null;

  private constructor(port: number) {
    this.address = `127.0.0.1:${port}`;
  }

  static async start(targetPort: number): Promise<InterruptingProxy> {
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
      const far = connect(targetPort, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket.setNoDelay(true));
        socket.on('error', () => {});
        socket.on('close', () => other.destroy());
      }
      far.pipe(near);
      near.on('data', (bytes) => proxy.#pass(bytes, near, far));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new InterruptingProxy((server.address() as AddressInfo).port);
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return proxy;
  }

  interruptNext(text: string, how: Interruption): void {
    this.#next = { text, how };
  }

  #pass(bytes: Buffer, near: Socket, far: Socket): void {
    if (this.#next === null || !bytes.includes(this.#next.text)) {
      far.write(bytes);
      return;
    }
    const { how } = this.#next;
    this.#next = null;
    this.interrupted++;
    if (how === 'refuses') near.write('-NOREPLICAS Not enough good replicas to write.\r\n');
    else near.destroy();
  }
}
