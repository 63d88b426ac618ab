import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';

/** Puts questions; null = no answer will come any more. */
export interface Questioner {
  readonly isTerminal: boolean;
  ask(question: string): Promise<string | null>;
  say(line: string): void;
  close(): void;
}

/** Makes a questioner on standard error; standard output says what is written. */
export function terminal(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
  output: Writable = process.stderr,
): Questioner {
  const isTerminal = input.isTTY === true;
  const lines = isTerminal ? createInterface({ input, output }) : null;
  const gone = new Promise<null>((resolve) => lines?.once('close', () => resolve(null)));
  /** Lines that precede their question, as pasted ones do. */
  const early: string[] = [];
  lines?.on('line', (line) => early.push(line));
  return {
    isTerminal,
    ask: async (question) => {
      const answer = early.shift();
      if (answer === undefined) return Promise.race([lines?.question(question) ?? null, gone]);
      output.write(`${question}${answer}\n`);
      return answer;
    },
    say: (line) => void output.write(`${line}\n`),
    close: () => lines?.close(),
  };
}
