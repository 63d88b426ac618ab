import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html, html, jsonIn } from './html.js';

export interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** Values that the script reads, by the id of the element that holds them. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The files of the page's script, in the order in which they need one another. */
  readonly modules: readonly URL[];
  /** Further styles, beside those of page.css. */
  readonly styles?: string;
}

/**
 * Renders a page with charts as one file, which loads nothing from a network, no fonts either, and opens from a disk as
 * well as from a server. The same parts give the same bytes.
 *
 * Its content security policy allows the script written here, by its hash, and nothing else.
 */
export function selfContainedPage({ title, body, values, modules, styles = '' }: PageParts): string {
  const script = new Html(`${chart.script}\n${bundle(modules)}`);
  const scriptHash = createHash('sha256').update(script.text).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${scriptHash}'; style-src 'unsafe-inline'; img-src data:`;
  const data = Object.entries(values).map(([id, value]) => {
    return html`<script type="application/json" id="${id}">${jsonIn(value)}</script>\n`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title} · quotamesh</title>
<style>
${new Html(`${chart.styles}\n${readFileSync(new URL('page.css', import.meta.url), 'utf8')}${styles}`)}</style>
<!-- uPlot ${chart.version}, https://github.com/leeoniya/uPlot, is part of this page under this licence:
${chart.licence}-->
</head>
<body>
${body}
${data}<script>${script}</script>
</body>
</html>
`.text;
}

/** Makes one script of the modules: without their imports, and with all their names in one scope. */
function bundle(modules: readonly URL[]): string {
  const parts = modules.map((module) => {
    return readFileSync(module, 'utf8')
      .replace(/^import [^;]+;\n/gm, '')
      .replace(/^export /gm, '');
  });
  return `(() => {\n'use strict';\n${parts.join('')}})();\n`;
}

const chart = loadChart();

function loadChart(): { script: string; styles: string; licence: string; version: string } {
  const read = (name: string) => readFileSync(new URL(`uplot/${name}`, import.meta.url), 'utf8');
  return {
    script: read('uPlot.iife.min.js').trim(),
    styles: read('uPlot.min.css').trim(),
    licence: read('LICENSE'),
    version: (JSON.parse(read('package.json')) as { version: string }).version,
  };
}
