import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unsecuredToken } from './secure-listener.js';

/** An OAuth token endpoint (client credentials) that gives `dave` tokens which Kafka's validator for tests takes. */
export interface TokenServer {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The forms of the requests that got a token. */
  readonly asked: Readonly<Record<string, string>>[];
  /** Answered instead of a token, while it is set. */
  broken: { readonly status: number; readonly body: string } | null;
  stop(): Promise<void>;
}

export async function startTokenServer({ lifeS = 600 } = {}): Promise<TokenServer> {
  const [clientId, clientSecret] = ['node:1', 'sesame öffne dich'];
  const expected = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`;
  const http = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await textOf(request)));
    const isKnown = request.headers.authorization === expected;
    const refusal = { error: 'invalid_client', error_description: 'who are you' };
    const token = { access_token: unsecuredToken('dave', lifeS), token_type: 'Bearer', expires_in: lifeS };
    const { status, body } = server.broken ?? {
      status: isKnown ? 200 : 401,
      body: JSON.stringify(isKnown ? token : refusal),
    };
    if (status === 200 && isKnown) server.asked.push(form);
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end(body);
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  const server: TokenServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`,
    clientId,
    clientSecret,
    asked: [],
    broken: null,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return server;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
