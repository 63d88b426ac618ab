import { resolve } from 'node:path';
import type { z } from 'zod';
import type { AccessConfig, TokenConfig } from '../../base/access/access-config.js';
import { ROLES } from '../../base/access/caller.js';
import { looksLikeToken } from '../../base/access/token.js';
import { isMapping } from '../../base/input/mapping.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import { fieldsOf } from '../../base/input/schema-parts.js';
import { type EntryTexts, readEntry } from '../rules/read-entry.js';
import { CERTIFICATE, TOKEN } from '../schema/grants.js';
import { type ConfigPath, Findings } from '../setting/findings.js';
import { show } from '../setting/setting-text.js';
import { parseYaml } from '../yaml/parse-yaml.js';
import type { FileContext } from './read-texts.js';

export interface ReadAuth {
  /** null where there is no `auth:`. */
  readonly auth: Omit<AccessConfig, 'failuresPerMinute'> | null;
  readonly files: readonly string[];
}

/** The section `auth`; every mistake is added with its line, of those in the file of tokens with the file's. */
export function readAuth(written: unknown, findings: Findings, context: FileContext): ReadAuth {
  if (!isMapping(written)) return { auth: null, files: [] };
  const { tokens, files } = readTokens(written.tokens, findings, context);
  const certificates = readGrants(CERTIFICATE, written.certificates, ['auth', 'certificates'], findings);
  checkDistinct(tokens, findings);
  if (tokens.length + certificates.length === 0 && findings.mistakes.length === 0) {
    const problem = 'has neither tokens nor certificates: nobody could ask this node';
    const remedy = 'Add tokens (`quotamesh token new` makes one), or remove auth and listen on 127.0.0.1.';
    findings.add(['auth'], { problem, allowed: 'at least one token or certificate', remedy });
  }
  return { auth: { tokens, certificates }, files };
}

/** Bounds the rules of certificates: they are tried one after the other. */
const GRANTS_MAX = 1000;
const FILE_BYTES_MAX = 256 * 1024;

function readGrants<Grant>(schema: z.ZodType<Grant>, given: unknown, at: ConfigPath, findings: Findings): Grant[] {
  const written = typeof given === 'string' ? fromText(given) : given;
  if (written === undefined || written === null) return [];
  if (!Array.isArray(written) || written.length > GRANTS_MAX) {
    const allowed = `a list of at most ${GRANTS_MAX}, each with ${Object.keys(fieldsOf(schema)).join(', ')}`;
    // Somebody may have written a token here.
    const got = typeof given === 'string' ? 'a text' : show(written);
    const remedy = 'See docs/operate/access.md for examples; in the environment it is JSON.';
    findings.add(at, { problem: `must be ${allowed}, got ${got}`, allowed, remedy });
    return [];
  }
  return written.flatMap((one: unknown, index) => {
    const grant = readEntry(schema, one, [...at, index], findings, TEXTS);
    return grant === undefined ? [] : [grant];
  });
}

const TEXTS: EntryTexts = {
  docs: 'docs/operate/access.md',
  // Somebody may have written a token where something else belongs.
  shown: (value) => (typeof value === 'string' && looksLikeToken(value) ? 'another text (not shown)' : show(value)),
  remedy: (value) => {
    if (typeof value !== 'string') return '';
    if (looksLikeToken(value)) return 'That is a token, not its hash: make a new one with `quotamesh token new`.';
    return didYouMean(value, ROLES);
  },
};

/** In the environment, where JSON is YAML too; undefined becomes a mistake. */
function fromText(text: string): unknown {
  const { raw, readable } = parseYaml(text);
  return readable && typeof raw !== 'string' ? raw : {};
}

/** Reads the list, or that of its file. */
function readTokens(written: unknown, findings: Findings, context: FileContext) {
  const file = isMapping(written) ? written.file : undefined;
  if (typeof file !== 'string') {
    return { tokens: readGrants(TOKEN, written, ['auth', 'tokens'], findings), files: [] };
  }
  const absolute = resolve(context.folder, file);
  const files = [absolute];
  const add = (problem: string) => {
    const allowed = 'the path of a YAML file of at most 256 KiB with a list of tokens';
    findings.add(['auth', 'tokens', 'file'], {
      problem,
      allowed,
      remedy: 'Check the path, its permissions and its text.',
    });
    return { tokens: [], files };
  };
  try {
    const parsed = parseYaml(context.readFile(absolute, FILE_BYTES_MAX));
    const [first] = parsed.mistakes;
    if (first !== undefined) return add(`is no good YAML: line ${first.location.line}: ${first.problem}`);
    if (!Array.isArray(parsed.raw)) return add('must hold a list of tokens');
    const own = new Findings(absolute, parsed.locate);
    const tokens = readGrants(TOKEN, parsed.raw, [], own);
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
      findings.add(['auth', 'tokens'], { problem, allowed: `each ${key} once`, remedy });
    }
  }
}
