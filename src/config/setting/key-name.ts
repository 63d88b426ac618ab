import { createHash } from 'node:crypto';
import { KEY_NAME_MAX } from '../../core/base/constants.js';

/**
 * Makes the name under which a key is kept, shown and published. It is the text itself; halves of surrogate pairs
 * become U+FFFD. A text of more than 200 characters becomes its beginning and the SHA-256 of all of it, so that names
 * take bounded room.
 *
 * Worked: `key:2001:db8::/56` stays; `key:` and 300 x become `key:` and 124 x, `~sha256:` and 43 characters.
 *
 * Such a name is its own name: what is shown may be asked for.
 */
export function keyNameOf(text: string): string {
  if (text.length <= KEY_NAME_MAX && text.isWellFormed()) return text;
  const whole = text.toWellFormed();
  if (whole.length <= KEY_NAME_MAX) return whole;
  const digest = createHash('sha256').update(whole).digest('base64url');
  return `${whole.slice(0, BEGINNING).toWellFormed()}~sha256:${digest}`;
}

const BEGINNING = 128;
