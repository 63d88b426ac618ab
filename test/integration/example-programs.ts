import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { Child } from '../../src/tools/processes/child.js';

const EXAMPLES = new URL('../../examples/', import.meta.url);

/** Starts an example that serves HTTP, until the test ends. */
export async function served(
  program: string,
  state: string,
  { id = 'a', ...env }: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly child: Child }> {
  const child = new Child([examplePath(program), id, '0', state], { env: { ...process.env, ...env } });
  onTestFinished(() => child.stop(8000).then(() => undefined));
  while (!child.stdout.includes('http:') && child.isRunning) await sleep(50);
  const url = /http:\S+/.exec(child.stdout)?.[0];
  if (url === undefined) throw new Error(child.logEnd());
  return { url, child };
}

/** Opens a server on a free port, until the test ends. Returns its URL. */
export async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Makes a folder for the state of examples, until the test ends. */
export async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'quotamesh-example-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

export function examplePath(program: string): string {
  return fileURLToPath(new URL(program, EXAMPLES));
}

export interface TraceRow {
  readonly prompt: string;
  readonly context: number;
  readonly generated: number;
  readonly most: number;
}

/** The bundled trace: a prompt of as many tokens as each request had, and at most 2,000 to be generated. */
export async function traceRows(count: number): Promise<TraceRow[]> {
  const text = await readFile(new URL('traces/azure-llm-code-2023.csv', EXAMPLES), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(1, count + 1)
    .map((line) => {
      const [, context, generated] = line.split(',').map(Number) as [number, number, number];
      return { prompt: 'word'.repeat(context), context, generated, most: 2000 };
    });
}
