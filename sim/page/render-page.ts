import type { RunResult } from '../run-result.js';

/** The results as they are, in a page of plain text. */
export function renderPage(results: readonly RunResult[]): string {
  const text = JSON.stringify(results, null, 1).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>\n<meta charset="utf-8">\n<title>quotamesh sim</title>\n<pre>${text}</pre>\n`;
}
