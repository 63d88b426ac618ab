import type { Setting } from '../setting/setting.js';

/** Shorter keys could be guessed by who has one signed record: `openssl rand -base64 32` prints 44 characters. */
export const HMAC_KEY_LENGTH_MIN = 32;

const KEY_REMEDY =
  'Make one with `openssl rand -base64 32`, put it into a file, and name the file in the key with File at the end.';

/** Signatures on the records of both topics (docs/operate/kafka-security.md). */
export const HMAC_SETTINGS = {
  'hmac.key': {
    kind: 'text',
    default: null,
    defaultText: 'none: records are not signed',
    secret: true,
    remedy: KEY_REMEDY,
    buys: 'Records are signed, and only signed ones are believed: who may write to the topic cannot speak for a node.',
    costs: 'CPU per record (`npm run bench:hmac`) and 22 bytes; one secret, the same at every node.',
  },
  'hmac.nextKey': {
    kind: 'text',
    default: null,
    secret: true,
    remedy: KEY_REMEDY,
    buys: 'Records signed with the key that comes next are believed already: the first step of a rotation.',
    costs: 'A second secret.',
  },
  'hmac.previousKey': {
    kind: 'text',
    default: null,
    secret: true,
    remedy: KEY_REMEDY,
    buys: 'Records signed with the key before are still believed, and what the registry keeps is signed anew.',
    costs: 'Who has the old key is believed until it is removed here.',
  },
  'hmac.verify': {
    kind: 'choice',
    default: 'require',
    choices: ['require', 'warn'],
    buys: 'warn counts and names records that nobody of the cluster has signed, and believes them: for the introduction.',
    costs: 'While it says warn, signatures protect nothing.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** Rows whose text may stand in a file. */
export const HMAC_FILE_SETTINGS = ['hmac.key', 'hmac.nextKey', 'hmac.previousKey'] as const;
