import { type Exchange, HttpPipe, requestWith } from '../../../src/tools/load/http-pipe.js';

const CONNECTIONS = 8;

/** Asks one node over pipelined connections; what has no room on them waits for as long as that takes. */
export class HttpClient {
  readonly #pipes: HttpPipe[] = [];
  readonly #unsent: Exchange[] = [];
  readonly #port: number;
  #sent = 0;

  constructor(port: number) {
    this.#port = port;
    for (let at = 0; at < CONNECTIONS; at++) this.#pipes.push(this.#connect());
  }

  /** Rejects where there is no decision. */
  ask(group: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const request = requestWith('POST', '/v1/acquire', { group, messages: 1 });
      const onAnswer = (status: number | null, body: string) => {
        if (status === 200 || status === 429) resolve(status === 200);
        else reject(new Error(`status ${status}: ${body}`));
      };
      this.#unsent.push({ request, onAnswer });
      this.#pump();
    });
  }

  close(): void {
    for (const pipe of this.#pipes) pipe.close();
  }

  #connect(): HttpPipe {
    return new HttpPipe({ host: '127.0.0.1', port: this.#port }, () => this.#pump());
  }

  #pump(): void {
    while (this.#sent < this.#unsent.length) {
      const pipe = this.#pipes.find(({ hasRoom }) => hasRoom);
      if (pipe === undefined) return;
      pipe.send(this.#unsent[this.#sent++]);
    }
    this.#unsent.length = 0;
    this.#sent = 0;
  }
}
