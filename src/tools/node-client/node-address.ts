import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { fetchedText } from '../../base/input/fetched-text.js';
import { TOKEN_VARIABLE, UNIX } from '../../config/setting/outside-words.js';
import { usage } from '../terminal/print.js';

export interface NodeCommandOptions {
  readonly url: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** JSON in place of text. */
  readonly json?: boolean;
}

export interface NodeAddress {
  readonly url: URL;
  /** Unix socket of the node, in place of the host in `url`. */
  readonly socketPath?: string;
  readonly token: string | null;
  /** PEM texts; `rejectUnauthorized: false` trusts any certificate. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized?: boolean;
  };
}

/** Resolves address and token: flag over file over environment. Throws USAGE, CONFIG_UNREADABLE. */
export function nodeAddress(options: NodeCommandOptions): NodeAddress {
  const { token, tokenFile, ca, cert, key } = options;
  const socketPath = options.url.startsWith(UNIX) ? options.url.slice(UNIX.length) : undefined;
  const url = socketPath === undefined ? nodeUrl(options.url) : new URL('http://localhost');
  if (socketPath === '') throw usage('--url unix: needs the path of a socket behind it');
  if ((cert === undefined) !== (key === undefined)) throw usage('--cert and --key need each other');
  if (url.protocol === 'http:' && (ca ?? cert) !== undefined)
    throw usage('--ca, --cert and --key need an https address');
  const given = token ?? (tokenFile === undefined ? process.env[TOKEN_VARIABLE] : readPart(tokenFile).trim());
  const files = Object.entries({ ca, cert, key }).flatMap(([name, file]) =>
    file === undefined ? [] : [[name, readPart(file)]],
  );
  return {
    url,
    ...(socketPath === undefined ? {} : { socketPath }),
    token: given === undefined || given === '' ? null : headerSafe(given),
    tls: Object.fromEntries(files),
  };
}

export interface NodeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

interface NodeAnswer {
  readonly status: number;
  readonly text: string;
}

/** Most bytes of an answer; a page of groups has some hundred KB. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Sends by node:http, as fetch takes no certificates. Rejects with the connection's error. */
export async function ask({ url, socketPath, token, tls }: NodeAddress, request: NodeRequest): Promise<NodeAnswer> {
  const { method, path, headers, body, timeoutMs } = request;
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return await new Promise((resolve, reject) => {
    const where = socketPath === undefined ? {} : { socketPath };
    const options = { method, ...where, ...tls, headers: { ...headers, ...authorization, ...length } };
    const sent = send(new URL(path, url), { ...options, signal: AbortSignal.timeout(timeoutMs) }, (answer) => {
      const { statusCode: status = 0 } = answer;
      fetchedText(answer, ANSWER_BYTES_MAX).then((text) => resolve({ status, text }), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Parses a URL; `127.0.0.1:7070` means `http://127.0.0.1:7070`. */
function nodeUrl(text: string): URL {
  const full = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!/:\/\/.*:\/\//.test(full) && URL.canParse(full)) return new URL(full);
  throw usage(`--url must be the address of a node, got ${JSON.stringify(text)}`);
}

/** Rejects a token that no header can hold, without showing it. */
function headerSafe(token: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(token)) return token;
  throw usage('the token must have 1 to 512 letters, digits and signs, without spaces');
}

function readPart(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });
  }
}
