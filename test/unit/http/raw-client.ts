import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';

/** A connection to a listener, and what has come of it. */
export class Client {
  text = '';
  bytes = 0;
  isClosed = false;
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.bytes += chunk.length;
      if (this.text.length < 10_000) this.text += chunk.toString('latin1').slice(0, 10_000);
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  static open(port: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Client(socket)));
      socket.once('error', reject);
    });
  }

  write(text: string | Buffer): void {
    this.#socket.write(text);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  until(condition: () => boolean): Promise<void> {
    return until(() => condition() || this.isClosed).then(() => expect(condition(), this.text).toBe(true));
  }
}

export async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 20_000, interval: 10 }).toBe(true);
}
