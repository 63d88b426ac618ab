import { connect } from 'node:tls';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { UNIX } from '../../config/setting/outside-words.js';
import { isLike, type SampleOf } from './answer-sample.js';
import { ask, type NodeAddress, type NodeRequest } from './node-address.js';

export { nodeAddress } from './node-address.js';

const TIMEOUT_MS = 5000;

/** Milliseconds for a change; the node gives up after 15 s. */
const CHANGE_TIMEOUT_MS = 20_000;

export interface Change {
  readonly method: 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Revision that the group must have; 'none' = no group. */
  readonly expected?: string | undefined;
  /** True = previews only. */
  readonly dryRun?: boolean | undefined;
  /** True = detaches what is attached to a deleted group. */
  readonly force?: boolean | undefined;
}

/** Changes; null = deleted. Throws CHANGE_REFUSED, NODE_UNREACHABLE for an answer that is not like the sample. */
export async function change<Answer>(
  node: NodeAddress,
  { method, path: plain, body, expected, dryRun, force }: Change,
  sample: SampleOf<Answer> | object = {},
): Promise<Answer | null> {
  const query = Object.entries({ dryRun, force }).flatMap(([name, value]) => (value === true ? [`${name}=true`] : []));
  const path = query.length > 0 ? `${plain}?${query.join('&')}` : plain;
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  if (expected === 'none') headers['if-none-match'] = '*';
  else if (expected !== undefined) headers['if-match'] = `"${expected}"`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await answerTo(node, { method, path, headers, timeoutMs: CHANGE_TIMEOUT_MS, ...sent });
  if (!isGood(answer)) throw refusalOf(node, path, answer);
  const isDeleted = method === 'DELETE' && dryRun !== true;
  if (isDeleted ? answer.status !== 204 : !isLike(answer.body, sample)) throw notOfANode(node, path);
  return isDeleted ? null : (answer.body as Answer);
}

/** Asks for an answer like the sample. Throws NODE_UNREACHABLE for any other. */
export async function get<Answer>(
  node: NodeAddress,
  path: string,
  sample: SampleOf<Answer>,
  timeoutMs = TIMEOUT_MS,
): Promise<Answer> {
  const answer = await answerTo(node, { method: 'GET', path, timeoutMs });
  if (!isGood(answer)) throw refusalOf(node, path, answer);
  if (!isLike(answer.body, sample)) throw notOfANode(node, path);
  return answer.body as Answer;
}

/** Repeats the node's own words and remedy; without them it is no node. */
function refusalOf(node: NodeAddress, path: string, { status, body }: JsonAnswer): QuotameshError {
  if (!isLike(body, PROBLEM)) return unreachable(node, `${path} answers with status ${status}`);
  const { code, detail, remedy, errors } = body as typeof PROBLEM & { readonly errors?: unknown };
  // Mistakes in a batch's other groups; `detail` has the first.
  const others = isLike(errors, [{ detail: '' }]) ? (errors as readonly { readonly detail: string }[]).slice(1) : [];
  const facts = { reason: [detail, ...others.map((each) => each.detail)].join('; '), advice: remedy };
  if (UNKNOWN.has(code)) return new QuotameshError('ASKED_WRONG', facts);
  if (status >= 500) return new QuotameshError('NODE_UNABLE', { ...facts, url: addressText(node) });
  return new QuotameshError('CHANGE_REFUSED', facts);
}

const PROBLEM = { code: '', detail: '', remedy: '' };
const UNKNOWN: ReadonlySet<unknown> = new Set(['GROUP_UNKNOWN', 'KEY_SILENT', 'KEY_UNKNOWN', 'KEY_DEFINITION_UNKNOWN']);

interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

async function answerTo(node: NodeAddress, request: NodeRequest): Promise<JsonAnswer> {
  const { status, text } = await ask(node, request).catch(async (error: Error) => {
    throw await connectionFailure(node, error);
  });
  try {
    return { status, body: status === 204 ? null : JSON.parse(text) };
  } catch {
    throw notOfANode(node, request.path);
  }
}

function isGood({ status }: JsonAnswer): boolean {
  return status >= 200 && status < 300;
}

/** Reads all pages of a list, e.g. `groups` of GET /v1/groups. */
export async function allPages<Listed>(node: NodeAddress, list: string, sample: SampleOf<Listed>): Promise<Listed[]> {
  const found: Listed[] = [];
  for await (const page of pagesOf<Listed>(node, { path: `/v1/${list}`, list, sample })) found.push(...page);
  return found;
}

/** Lists names read in time; rejects where there are none. */
export async function groupNames(node: NodeAddress, patienceMs: number): Promise<readonly string[]> {
  const deadlineMs = performance.now() + patienceMs;
  const leftMs = () => Math.max(1, Math.ceil(deadlineMs - performance.now()));
  const names: string[] = [];
  try {
    const sample = { group: '' };
    const pages = pagesOf<typeof sample>(node, { path: '/v1/groups', list: 'groups', sample, timeoutMs: leftMs });
    for await (const page of pages) {
      names.push(...page.map(({ group }) => group));
    }
  } catch (error) {
    if (names.length === 0) throw error;
  }
  return names;
}

interface Pages<Listed> {
  readonly path: string;
  /** Member with the page's items. */
  readonly list: string;
  readonly sample: SampleOf<Listed>;
  readonly query?: Readonly<Record<string, string>>;
  readonly timeoutMs?: () => number;
}

/** Reads page by page. Throws NODE_UNREACHABLE where a page names itself as the next one, or none. */
export async function* pagesOf<Listed>(
  node: NodeAddress,
  { path, list, sample, query = {}, timeoutMs = () => TIMEOUT_MS }: Pages<Listed>,
): AsyncGenerator<readonly Listed[]> {
  let after: string | null = query.after ?? null;
  do {
    const asked = new URLSearchParams({ ...query, ...(after === null ? {} : { after }) }).toString();
    const page: Readonly<Record<string, unknown>> = await get(
      node,
      asked === '' ? path : `${path}?${asked}`,
      { [list]: [sample] },
      timeoutMs(),
    );
    const { next } = page;
    if (next !== null && (typeof next !== 'string' || next === after)) throw notOfANode(node, path);
    yield page[list] as readonly Listed[];
    after = next;
  } while (after !== null);
}

function notOfANode(node: NodeAddress, path: string): QuotameshError {
  return unreachable(node, `${path} is answered by something else`);
}

function unreachable(node: NodeAddress, reason: string): QuotameshError {
  return new QuotameshError('NODE_UNREACHABLE', { url: addressText(node), reason });
}

const PROBE_MS = 1000;

/** Explains a missing answer: nobody there, an untrusted certificate, or TLS on one side alone. */
async function connectionFailure(node: NodeAddress, error: Error): Promise<QuotameshError> {
  const { url, socketPath } = node;
  const { code = '', message, cause } = error as NodeJS.ErrnoException & { readonly cause?: Error };
  const reason = (cause?.message ?? '') || message || code || 'the connection failed';
  const at = addressText(node);
  if (CERTIFICATE_CODES.test(code)) return new QuotameshError('NODE_CERTIFICATE', { url: at, reason });
  if (/^EPROTO$|^ERR_SSL_/.test(code) && /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`)) {
    return new QuotameshError('NODE_PROTOCOL', { url: at, asked: 'https', spoken: 'http' });
  }
  const isCut = code === 'ECONNRESET' || code === 'EPIPE' || code.startsWith('HPE_');
  if (url.protocol === 'http:' && socketPath === undefined && isCut && (await speaksTls(url))) {
    return new QuotameshError('NODE_PROTOCOL', { url: at, asked: 'http', spoken: 'https' });
  }
  return new QuotameshError('NODE_UNREACHABLE', { url: at, reason });
}

function addressText({ url, socketPath }: NodeAddress): string {
  return socketPath === undefined ? url.origin : `${UNIX}${socketPath}`;
}

const CERTIFICATE_CODES = /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT_ALTNAME/;

/** Tests for TLS, whatever the certificate: nothing is sent. */
function speaksTls({ hostname: host, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
