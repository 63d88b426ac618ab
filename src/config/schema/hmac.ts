import type { z } from 'zod';
import { section } from '../setting/section.js';
import { SECRET } from '../setting/text-file.js';

/** Shorter keys could be guessed from one signed record. `openssl rand -base64 32` prints 44 characters. */
export const HMAC_KEY_LENGTH_MIN = 32;

const KEY_REMEDY = 'Make one with `openssl rand -base64 32`, put it into a file, and name that: { file: PATH }.';

/** Signatures on the records of both topics (docs/operate/kafka-security.md). */
export const HMAC = section({
  key: {
    ...SECRET,
    defaultText: 'none: records are not signed',
    remedy: KEY_REMEDY,
    missedBy: 'topics that others may write to',
    buys: 'Records are signed, and only signed ones are accepted: who may write to the topic cannot write for a node.',
    costs: 'CPU per record (`npm run bench:hmac`) and 22 bytes; one secret, the same at every node.',
  },
  nextKey: {
    ...SECRET,
    remedy: KEY_REMEDY,
    missedBy: 'rotations',
    buys: 'Records signed with the key that comes next are accepted already: the first step of a rotation.',
    costs: 'A second secret.',
  },
  previousKey: {
    ...SECRET,
    remedy: KEY_REMEDY,
    missedBy: 'rotations',
    buys: 'Records signed with the key before are still accepted, and the records that the registry keeps are signed anew.',
    costs: 'Holders of the old key are accepted until it is removed here.',
  },
  verify: {
    kind: 'choice',
    default: 'require',
    choices: ['require', 'warn'],
    missedBy: 'introductions',
    buys: 'warn counts and names records that nobody of the cluster has signed, and accepts them: for the introduction.',
    costs: 'While it says warn, signatures protect nothing.',
  },
});
export type HmacSettings = z.output<typeof HMAC>;

export const HMAC_KEYS = ['key', 'nextKey', 'previousKey'] as const;
