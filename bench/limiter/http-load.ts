import { connect, type Socket } from 'node:net';

/** One turn: ask this server, this way, for so long. */
export interface LoadOrder {
  readonly host?: string;
  readonly port?: number;
  readonly socket?: string;
  readonly path: string;
  readonly body: string;
  readonly token?: string;
  readonly forMs: number;
}

export interface LoadAnswer {
  readonly answered: number;
  readonly failed: number;
  readonly tookMs: number;
}

/** One request under way on each, as HTTP/1.1 clients do it: none of them pipelines. */
const CONNECTIONS = 32;
const UNDER_WAY = 1;
const OK = Buffer.from('HTTP/1.1 200 ');
const ANY = Buffer.from('HTTP/1.1 ');

process.on('message', (order: LoadOrder) => {
  play(order).then((answer) => process.send!(answer));
});

async function play(order: LoadOrder): Promise<LoadAnswer> {
  const { body, path, token, forMs } = order;
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n${authorization}`;
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  const beganMs = performance.now();
  const ends = Array.from({ length: CONNECTIONS }, () => keepAsking(order, request, beganMs + forMs));
  const counts = await Promise.all(ends);
  const tookMs = performance.now() - beganMs;
  const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return { answered: sum(({ answered }) => answered), failed: sum(({ failed }) => failed), tookMs };
}

interface Count {
  answered: number;
  failed: number;
}

/** A status line that is cut between two chunks counts with the second: its start is kept. */
function keepAsking({ host, port, socket }: LoadOrder, request: Buffer, untilMs: number): Promise<Count> {
  return new Promise((resolve, reject) => {
    const count = { answered: 0, failed: 0 };
    const to: Socket = socket === undefined ? connect(port!, host!) : connect(socket);
    let asked = UNDER_WAY;
    let rest: Buffer = Buffer.alloc(0);
    to.setNoDelay(true);
    to.on('error', reject);
    to.on('connect', () => to.write(Buffer.concat(Array.from({ length: UNDER_WAY }, () => request))));
    to.on('data', (chunk) => {
      const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const good = occurrences(text, OK);
      count.answered += good;
      const all = occurrences(text, ANY, OK.length - ANY.length);
      count.failed += all - good;
      rest = Buffer.from(text.subarray(Math.max(text.lastIndexOf('\n') + 1, text.length - OK.length + 1)));
      if (performance.now() < untilMs) {
        for (let again = 0; again < all; again++) to.write(request);
        asked += all;
      } else if (count.answered + count.failed >= asked) {
        to.destroy();
        resolve(count);
      }
    });
  });
}

/** Only those with `after` more bytes behind them, so that what is counted now is not counted with the rest again. */
function occurrences(text: Buffer, sought: Buffer, after = 0): number {
  let found = 0;
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) {
    if (at + sought.length + after <= text.length) found++;
  }
  return found;
}
