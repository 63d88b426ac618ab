import { MAX_RECORD_BYTES } from '../codec/envelope.js';
import type { AnswerBounds } from './guard-answers.js';
import { MalformedAnswer } from './malformed-answer.js';

/** Most bytes of a line; Redis' have some hundred. */
const LINE_BYTES_MAX = 4096;
/** Entries to ask for at once; an answer is kept whole. */
export const ENTRIES_PER_ANSWER = 100;
/** Most bytes of an entry: the largest record, its signature, key, offset and framing. */
const ENTRY_BYTES_MAX = MAX_RECORD_BYTES + 2048;
/** Most bytes of an answer; a scan may bring some entries more. *Why* not more: it is kept of a hostile server, too. */
const ANSWER_BYTES_MAX = 1.25 * ENTRIES_PER_ANSWER * ENTRY_BYTES_MAX;
const ELEMENTS_MAX = 100_000;
const DEPTH_MAX = 8;

const [CARRIAGE_RETURN, NEWLINE] = [13, 10];
const [STATUS, ERROR, NUMBER, BULK, ARRAY] = [...'+-:$*'].map((sign) => sign.charCodeAt(0));
const NULL = -1;

/** Finds Redis' answers (RESP 2): a sign, a line, and what the line announces. */
export class RedisAnswerBounds implements AnswerBounds {
  readonly #awaited: () => number;
  #at = 0;
  #elements = 0;
  /** Missing elements per open array, the innermost last. */
  readonly #open: number[] = [];

  /** @param awaited number of commands without an answer */
  constructor(awaited: () => number) {
    this.#awaited = awaited;
  }

  wholeBytes(bytes: Buffer): number {
    let whole = 0;
    let answers = 0;
    while (this.#at < bytes.length) {
      if (this.#open.length === 0 && answers >= this.#awaited()) {
        throw new MalformedAnswer('unasked', 'nobody waits for an answer');
      }
      if (!this.#element(bytes, whole)) break;
      if (this.#open.length > 0) continue;
      answers++;
      this.#elements = 0;
      whole = this.#at;
    }
    this.#at -= whole;
    return whole;
  }

  /** Moves behind the next element; false = it is incomplete. */
  #element(bytes: Buffer, from: number): boolean {
    const sign = bytes[this.#at];
    const lineAt = this.#at + 1;
    const lineEnd = bytes.subarray(lineAt, lineAt + LINE_BYTES_MAX).indexOf(CARRIAGE_RETURN);
    if (sign !== STATUS && sign !== ERROR && sign !== NUMBER && sign !== BULK && sign !== ARRAY) {
      throw new MalformedAnswer('malformed', `it begins with byte ${sign}`);
    }
    if (lineEnd < 0) {
      if (bytes.length - lineAt < LINE_BYTES_MAX) return false;
      throw new MalformedAnswer('too-long', `a line of more than ${LINE_BYTES_MAX} bytes`);
    }
    const end = lineAt + lineEnd + 2;
    if (bytes.length < end) return false;
    if (bytes[end - 1] !== NEWLINE) throw new MalformedAnswer('malformed', 'a line without an end');
    const line = sign === STATUS || sign === ERROR ? '' : bytes.toString('latin1', lineAt, end - 2);
    if (sign === NUMBER && !/^[+-]?\d{1,19}$/.test(line)) throw notANumber(line);
    if (sign === ARRAY) return this.#array(countOf(line), end);
    const bulkBytes = sign === BULK ? countOf(line) : NULL;
    const elementEnd = bulkBytes === NULL ? end : end + bulkBytes + 2;
    if (elementEnd - from > ANSWER_BYTES_MAX) {
      throw new MalformedAnswer('too-long', `${elementEnd - from} bytes, at most ${ANSWER_BYTES_MAX} are allowed`);
    }
    if (bytes.length < elementEnd) return false;
    if (bulkBytes !== NULL && (bytes[elementEnd - 2] !== CARRIAGE_RETURN || bytes[elementEnd - 1] !== NEWLINE)) {
      throw new MalformedAnswer('malformed', 'a text without an end');
    }
    this.#at = elementEnd;
    this.#close();
    return true;
  }

  #array(length: number, end: number): boolean {
    this.#at = end;
    if (length <= 0) {
      this.#close();
      return true;
    }
    this.#elements += length;
    if (this.#elements > ELEMENTS_MAX) {
      throw new MalformedAnswer('too-long', `${this.#elements} elements, at most ${ELEMENTS_MAX} are allowed`);
    }
    this.#open.push(length);
    if (this.#open.length > DEPTH_MAX)
      throw new MalformedAnswer('malformed', `more than ${DEPTH_MAX} arrays in arrays`);
    return true;
  }

  /** Counts a complete element, and the arrays that it completes. */
  #close(): void {
    for (let last = this.#open.length - 1; last >= 0; last--) {
      this.#open[last]--;
      if (this.#open[last] > 0) return;
      this.#open.pop();
    }
  }
}

function countOf(line: string): number {
  if (line === '-1') return NULL;
  if (!/^\d{1,10}$/.test(line)) throw notANumber(line);
  return Number(line);
}

function notANumber(line: string): MalformedAnswer {
  return new MalformedAnswer('malformed', `${JSON.stringify(line.slice(0, 30))} is no length or number`);
}
