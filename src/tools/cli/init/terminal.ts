import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';

/** Where questions are put and answers come from; null answers = whoever was asked has gone. */
export interface Questioner {
  readonly isTerminal: boolean;
  ask(question: string): Promise<string | null>;
  say(line: string): void;
  close(): void;
}

/** Questions go to standard error: what is written is told on standard output. */
export function terminal(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean } = process.stdin,
  output: Writable = process.stderr,
): Questioner {
  const isTerminal = input.isTTY === true;
  const lines = isTerminal ? createInterface({ input, output }) : null;
  const gone = new Promise<null>((resolve) => lines?.once('close', () => resolve(null)));
  /** Lines that came before their question, as pasted ones do. */
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
