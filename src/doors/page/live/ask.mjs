export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the node answered ${status}`);
    this.status = status;
    this.code = problem.code ?? '';
    this.remedy = problem.remedy ?? '';
  }
}

/** Asks the node that this page came from. Rejects with Refused, or with what fetch rejects with. */
export async function ask(path, { method = 'GET', body, headers = {}, signal } = {}) {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(placeOf(location.pathname) + path, {
    method,
    signal,
    headers: { ...authorization(), ...content, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** Drops the slash at the end of a path: `/quotas/` is the page `/quotas` that a service hands out. */
export function placeOf(pathname) {
  return pathname.replace(/\/$/, '');
}

export async function askJson(path, how) {
  const response = await ask(path, how);
  return response.status === 204 ? null : await response.json();
}

export async function refusalOf(response) {
  const problem = await response.json().catch(() => ({}));
  return new Refused(response.status, problem);
}

/** The token lives as long as the tab. */
export function rememberToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

const TOKEN = 'quotamesh-token';

function authorization() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null || token === '' ? {} : { authorization: `Bearer ${token}` };
}
