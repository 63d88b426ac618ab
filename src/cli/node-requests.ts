import { QuotameshError } from '../errors.js';

/** `127.0.0.1:7070` is taken for `http://127.0.0.1:7070`. */
export function nodeUrl(text: string): URL {
  const full = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!/:\/\/.*:\/\//.test(full) && URL.canParse(full)) return new URL(full);
  throw new QuotameshError('USAGE', { reason: `--url must be the address of a node, got ${JSON.stringify(text)}` });
}

const TIMEOUT_MS = 5000;

/** A change waits for the log; the node itself gives up after 15 s. */
const CHANGE_TIMEOUT_MS = 20_000;

export interface Change {
  readonly method: 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Revision that the group must have; 'none' = it must not exist. */
  readonly expected?: string | undefined;
  /** Only shows what would follow. */
  readonly dryRun?: boolean | undefined;
  /** What is attached to a group that goes is detached. */
  readonly force?: boolean | undefined;
}

/** Answers null where there is no content; throws CHANGE_REFUSED where the node says no. */
export async function change<Answer>(
  url: URL,
  { method, path: plain, body, expected, dryRun, force }: Change,
): Promise<Answer | null> {
  const query = Object.entries({ dryRun, force }).flatMap(([name, value]) => (value === true ? [`${name}=true`] : []));
  const path = query.length > 0 ? `${plain}?${query.join('&')}` : plain;
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  if (expected === 'none') headers['if-none-match'] = '*';
  else if (expected !== undefined) headers['if-match'] = `"${expected}"`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(CHANGE_TIMEOUT_MS);
  const response = await fetch(new URL(path, url), { method, headers, signal, ...sent }).catch(
    (error: Error & { cause?: Error }) => unreachable(url, error.cause?.message || error.message),
  );
  if (response.status === 204) return null;
  const answer: unknown = await response.json().catch(() => unreachable(url, `${path} is answered by something else`));
  if (response.ok) return answer as Answer;
  const { code, detail, remedy } = answer as { code?: unknown; detail?: unknown; remedy?: unknown };
  if (code === 'GROUP_UNKNOWN') throw new QuotameshError('USAGE', { reason: String(detail) });
  if (response.status >= 500) return unreachable(url, String(detail));
  throw new QuotameshError('CHANGE_REFUSED', { reason: String(detail), advice: String(remedy) });
}

export async function get<Answer>(url: URL, path: string): Promise<Answer> {
  const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: Error & { cause?: Error }) => unreachable(url, error.cause?.message || error.message),
  );
  const answer: unknown = await response.json().catch(() => unreachable(url, `${path} is answered by something else`));
  if (response.ok) return answer as Answer;
  const { code, detail } = answer as { code?: unknown; detail?: unknown };
  if (code === 'GROUP_UNKNOWN') throw new QuotameshError('USAGE', { reason: String(detail) });
  return unreachable(url, typeof detail === 'string' ? detail : `${path} answers with status ${response.status}`);
}

/** All of a list that a node answers in pages, e.g. `groups` of GET /v1/groups. */
export async function allPages<Listed>(url: URL, list: string): Promise<Listed[]> {
  const found: Listed[] = [];
  let after: string | null = null;
  do {
    const query: string = after === null ? '' : `?after=${encodeURIComponent(after)}`;
    const page: { readonly next: string | null } & Readonly<Record<string, unknown>> = await get(
      url,
      `/v1/${list}${query}`,
    );
    found.push(...(page[list] as Listed[]));
    after = page.next;
  } while (after !== null);
  return found;
}

function unreachable(url: URL, reason: string): never {
  throw new QuotameshError('NODE_UNREACHABLE', { url: url.origin, reason });
}
