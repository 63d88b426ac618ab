import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** gone: the connection ends; huge: 50 MB of other metrics before the page; other: a page in which no rule has matched. */
type Fault = 'none' | 'gone' | 'huge' | 'other';

const OTHER_LINE = '# nothing that anybody asks for, kafka_server_produce_byte_rate{client_id="app"} 1\n'.repeat(1000);
const HUGE_BYTES = 50_000_000;

/** Stands before the exporter of a broker, and spoils what it says. */
export class FaultyExporter {
  fault: Fault = 'none';
  readonly #server: Server;

  private constructor(exporter: string) {
    this.#server = createServer((_, response) => {
      this.#answer(exporter, response).catch(() => response.destroy());
    });
  }

  static async before(exporter: string): Promise<FaultyExporter> {
    const faulty = new FaultyExporter(exporter);
    faulty.#server.listen(0, '127.0.0.1');
    await once(faulty.#server, 'listening');
    return faulty;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/metrics`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(exporter: string, response: ServerResponse): Promise<void> {
    if (this.fault === 'gone') {
      response.destroy();
      return;
    }
    const page = await (await fetch(exporter)).text();
    for (let sent = 0; this.fault === 'huge' && sent < HUGE_BYTES; sent += OTHER_LINE.length) {
      if (!response.write(OTHER_LINE)) await once(response, 'drain');
    }
    response.end(this.fault === 'other' ? page.replaceAll('kafka_server_', 'kafka_broker_') : page);
  }
}
