import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { fetchedText, fetchFailure } from '../../base/input/fetched-text.js';
import { isMapping } from '../../base/input/mapping.js';
import { TopicUnusable } from '../remote/topic-unusable.js';

export interface TokenEndpoint {
  /** Topic in error messages. */
  readonly topic: string;
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | undefined;
  readonly timeoutMs: number;
}

/** Life of a token where neither answer nor token has one, ms. */
const LIFE_MS_DEFAULT = 300_000;
const REASON_LENGTH_MAX = 200;

/**
 * Requests a token by client credentials (RFC 6749, 4.4), with HTTP Basic. Rejects with TOKEN_REFUSED for good, or
 * TOKEN_UNAVAILABLE.
 */
export async function askForToken(endpoint: TokenEndpoint): Promise<{ value: string; lifeMs: number }> {
  const { topic, url } = endpoint;
  const { status, body } = await post(endpoint).catch((error: unknown) => {
    throw new QuotameshError('TOKEN_UNAVAILABLE', { topic, source: url, reason: fetchFailure(error) });
  });
  if (status >= 500 || status === 429) {
    throw new QuotameshError('TOKEN_UNAVAILABLE', { topic, source: url, reason: `status ${status}` });
  }
  const { access_token: value, expires_in: lifeS } = body;
  if (status !== 200 || typeof value !== 'string' || value === '') {
    throw new TopicUnusable('TOKEN_REFUSED', { topic, endpoint: url, reason: refusalOf(status, body) });
  }
  const told = Number(lifeS);
  return { value, lifeMs: told > 0 ? told * 1000 : (lifeOf(value) ?? LIFE_MS_DEFAULT) };
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post({ url, clientId, clientSecret, scope, timeoutMs }: TokenEndpoint): Promise<Answer> {
  const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
    // A redirect would take the secret to another URL.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const body = parsed(await fetchedText(response.body, ANSWER_BYTES_MAX));
  return { status: response.status, body: isMapping(body) ? body : {} };
}

/** Most bytes of an answer; a token has some KB. */
const ANSWER_BYTES_MAX = 256 * 1024;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Shows `error` and `error_description` (RFC 6749, 5.2). */
function refusalOf(status: number, { error, error_description: description }: Answer['body']): string {
  const said = [error, description].filter((text) => typeof text === 'string').join(': ');
  return `status ${status}${said === '' ? ', without a token' : `, ${said}`}`.slice(0, REASON_LENGTH_MAX);
}

/** Reads a JWT's life in ms, by its issuer's clock alone; null = another token. */
function lifeOf(token: string): number | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const lifeMs = isMapping(claims) ? (Number(claims.exp) - Number(claims.iat)) * 1000 : 0;
    return lifeMs > 0 ? lifeMs : null;
  } catch {
    return null;
  }
}
