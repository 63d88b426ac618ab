import { resolve } from 'node:path';
import { z } from 'zod';
import type { AccessConfig, CertificateRule, TokenConfig } from '../../access/access-config.js';
import { ROLES } from '../../access/caller.js';
import { HASH_PREFIX, looksLikeToken } from '../../access/token.js';
import { isMapping } from '../../input/mapping.js';
import { didYouMean } from '../../input/nearest-name.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { NODE_NAME } from '../setting/setting.js';
import { show } from '../setting/setting-text.js';
import { addUnknownKeys } from '../setting/unknown-keys.js';
import { parseYaml } from '../yaml/parse-yaml.js';
import type { SoundNode } from './read-node.js';
import type { FileContext } from './read-texts.js';

export interface ReadAuth {
  /** null where there is no `auth:`. */
  readonly auth: AccessConfig | null;
  readonly files: readonly string[];
}

/** The section `auth`; every mistake is added with its line, of those in the file of tokens with the file's. */
export function readAuth(written: unknown, { auth }: SoundNode, findings: Findings, context: FileContext): ReadAuth {
  if (!isMapping(written)) return { auth: null, files: [] };
  const inline = readGrants(TOKENS, written.tokens, ['auth', 'tokens'], findings);
  const { tokens: ofFile, files } = readTokensFile(auth.tokensFile, findings, context);
  const certificates = readGrants(CERTIFICATES, written.certificates, ['auth', 'certificates'], findings);
  const tokens = [...inline, ...ofFile];
  checkDistinct(tokens, findings);
  if (tokens.length + certificates.length === 0 && findings.mistakes.length === 0) {
    const problem = 'has neither tokens nor certificates: nobody could ask this node';
    const remedy = 'Add tokens (`quotamesh token new` makes one), or remove auth and listen on 127.0.0.1.';
    findings.add(['auth'], { problem, allowed: 'at least one token or certificate', remedy });
  }
  // Absent where it has a mistake: then nothing is made of all this.
  return { auth: { tokens, certificates, failuresPerMinute: auth.failuresPerMinute as number }, files };
}

/** Rules of certificates are tried one by one. */
const GRANTS_MAX = 1000;
const FILE_BYTES_MAX = 256 * 1024;

interface GrantForm<Grant> {
  readonly schema: z.ZodObject;
  readonly read: (parsed: Readonly<Record<string, unknown>>) => Grant;
}

const HASH = new RegExp(`^${HASH_PREFIX}[0-9a-f]{64}$`, 'i');
const CERTIFICATE_NAME = /^(?:CN|DNS|URI|email)[=:][^\s,"]{1,250}$/;
const GRANTED = {
  roles: z.array(z.enum(ROLES)).min(1),
  tenants: z
    .array(z.string().regex(/^[\w.:@+~=-]{1,128}$/))
    .min(1)
    .nullish(),
};

const TOKENS: GrantForm<TokenConfig> = {
  schema: z.strictObject({
    name: z
      .string()
      .regex(NODE_NAME.matches)
      .refine((name) => !looksLikeToken(name)),
    hash: z.string().regex(HASH),
    ...GRANTED,
  }),
  read: ({ tenants, hash, ...others }) => {
    const plain = String(hash).slice(HASH_PREFIX.length).toLowerCase();
    return { ...others, hash: plain, tenants: tenants ?? null } as TokenConfig;
  },
};

const CERTIFICATES: GrantForm<CertificateRule> = {
  schema: z.strictObject({
    match: z.string().regex(CERTIFICATE_NAME),
    name: z.string().regex(NODE_NAME.matches).nullish(),
    ...GRANTED,
  }),
  read: ({ tenants, name, ...others }) => {
    return { ...others, name: name ?? null, tenants: tenants ?? null } as CertificateRule;
  },
};

export const TOKEN_KEYS: readonly string[] = Object.keys(TOKENS.schema.shape);
export const CERTIFICATE_KEYS: readonly string[] = Object.keys(CERTIFICATES.schema.shape);

const ALLOWED: Readonly<Record<string, string>> = {
  name: NODE_NAME.text,
  hash: `${HASH_PREFIX} and 64 hexadecimal digits, as \`quotamesh token new\` prints them`,
  match: 'a name of the certificate: "CN=broker-*", "DNS:broker.example", "URI:spiffe://example/broker" or "email:…"',
  roles: `a list of ${ROLES.join(', ')}`,
  tenants: 'a list of tenants',
};

function readGrants<Grant>(form: GrantForm<Grant>, given: unknown, at: ConfigPath, findings: Findings): Grant[] {
  const written = typeof given === 'string' ? fromText(given) : given;
  if (written === undefined || written === null) return [];
  if (!Array.isArray(written) || written.length > GRANTS_MAX) {
    const allowed = `a list of at most ${GRANTS_MAX}, each with ${Object.keys(form.schema.shape).join(', ')}`;
    // Somebody may have written a token here.
    const got = typeof given === 'string' ? 'a text' : show(written);
    const remedy = 'See docs/operate/access.md for examples; in the environment it is JSON.';
    findings.add(at, { problem: `must be ${allowed}, got ${got}`, allowed, remedy });
    return [];
  }
  return written.flatMap((one: unknown, index) => {
    const parsed = form.schema.safeParse(one);
    const path = [...at, index];
    if (!parsed.success) {
      for (const issue of parsed.error.issues) addIssue(issue, one, { path, keys: form.schema }, findings);
      return [];
    }
    checkScope(parsed.data, path, findings);
    return [form.read(parsed.data)];
  });
}

/** In the environment, where JSON is YAML too; undefined becomes a mistake. */
function fromText(text: string): unknown {
  const { raw, readable } = parseYaml(text);
  return readable && typeof raw !== 'string' ? raw : {};
}

function readTokensFile(file: unknown, findings: Findings, context: FileContext) {
  if (typeof file !== 'string') return { tokens: [], files: [] };
  const absolute = resolve(context.folder, file);
  const files = [absolute];
  const add = (problem: string) => {
    const allowed = 'the path of a YAML file of at most 256 KiB with a list of tokens';
    findings.add(['auth', 'tokensFile'], { problem, allowed, remedy: 'Check the path, its permissions and its text.' });
    return { tokens: [], files };
  };
  try {
    const parsed = parseYaml(context.readFile(absolute, FILE_BYTES_MAX));
    const [first] = parsed.mistakes;
    if (first !== undefined) return add(`is no good YAML: line ${first.place.line}: ${first.problem}`);
    if (!Array.isArray(parsed.raw)) return add('must hold a list of tokens');
    const own = new Findings(absolute, parsed.locate);
    const tokens = readGrants(TOKENS, parsed.raw, [], own);
    findings.mistakes.push(...own.mistakes);
    return { tokens, files };
  } catch (error) {
    return add(`cannot be read: ${(error as Error).message}`);
  }
}

/** A name in the audit log means one token. */
function checkDistinct(tokens: readonly TokenConfig[], findings: Findings): void {
  for (const key of ['name', 'hash'] as const) {
    const values = tokens.map((token) => token[key]);
    const twice = new Set(values.filter((value, index) => values.indexOf(value) !== index));
    for (const value of twice) {
      const who = key === 'name' ? value : tokens.filter(({ hash }) => hash === value).map(({ name }) => name);
      const problem = `has two tokens with the same ${key}: ${[who].flat().join(' and ')}`;
      const remedy = 'Give each its own; to replace a token, name the new one otherwise and remove the old one later.';
      findings.add(['auth', 'tokens'], { problem, allowed: `each ${key} once, in tokens and tokensFile`, remedy });
    }
  }
}

function checkScope(grant: Readonly<Record<string, unknown>>, path: ConfigPath, findings: Findings): void {
  const roles = grant.roles as readonly string[];
  if ((grant.tenants ?? null) === null || roles.includes('admin') || roles.includes('operator')) return;
  const problem = `limits changes, and ${roles.join(', ')} cannot change anything`;
  const remedy = 'Remove tenants, or give the role operator.';
  findings.add([...path, 'tenants'], { problem, allowed: 'tenants with the roles admin or operator', remedy });
}

function addIssue(
  issue: z.core.$ZodIssue,
  written: unknown,
  { path, keys: { shape } }: { readonly path: ConfigPath; readonly keys: z.ZodObject },
  findings: Findings,
): void {
  const at = [...path, ...(issue.path as (string | number)[])];
  const keys = Object.keys(shape);
  if (issue.code === 'unrecognized_keys') {
    addUnknownKeys(issue.keys, keys, at, findings);
    return;
  }
  const key = issue.path[0] as string | undefined;
  const allowed = key === undefined ? `a mapping with the keys ${keys.join(', ')}` : (ALLOWED[key] as string);
  const got: unknown = key === undefined ? written : (written as Readonly<Record<string, unknown>>)[key];
  if (got === undefined && issue.path.length === 1) {
    findings.add(at, { problem: 'is missing', allowed, remedy: `Add it: ${allowed}.` });
    return;
  }
  const element: unknown = Array.isArray(got) && issue.path.length > 1 ? got[Number(issue.path[1])] : got;
  findings.add(at, {
    problem: `must be ${allowed}, got ${shownValue(key, element)}`,
    allowed,
    remedy: remedyOf(element),
  });
}

function shownValue(key: string | undefined, value: unknown): string {
  if (key === 'hash' || key === undefined || (typeof value === 'string' && looksLikeToken(value)))
    return typeof value === 'string' ? 'another text (not shown)' : show(value);
  return show(value);
}

function remedyOf(value: unknown): string {
  if (typeof value !== 'string') return 'See docs/operate/access.md for examples.';
  if (looksLikeToken(value)) return 'That is a token, not its hash: make a new one with `quotamesh token new`.';
  return didYouMean(value, ROLES) || 'See docs/operate/access.md for examples.';
}
