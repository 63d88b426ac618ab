import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html, html, jsonIn } from './html.js';

interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** Values for the script, by the id of their element. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Files of the script in the order of need; SHARED_MODULES come before. */
  readonly modules: readonly URL[];
  /** Styles beside page.css. */
  readonly styles: string;
  /** True = the script asks the page's server. */
  readonly asksServer?: boolean;
}

/**
 * Renders a page as one file that loads nothing. It opens from a disk or a server. Same parts, same bytes. Its content
 * security policy allows the script and styles written here, by their hashes.
 */
export function selfContainedPage({ title, body, values, modules, styles, asksServer = false }: PageParts): string {
  const chart = loadChart();
  const script = `${chart.script}\n${bundle([...SHARED_MODULES, ...modules])}`;
  const style = `\n${chart.styles}\n${readFileSync(new URL('page.css', import.meta.url), 'utf8')}${styles}`;
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    ...(asksServer ? ["connect-src 'self'"] : []),
  ].join('; ');
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
<style>${new Html(style)}</style>
<!-- uPlot ${chart.version}, https://github.com/leeoniya/uPlot, is part of this page under this licence:
${chart.licence}-->
</head>
<body>
${body}
${data}<script>${new Html(script)}</script>
</body>
</html>
`.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const SHARED_MODULES = ['figures', 'elements', 'theme', 'chart'].map((name) => {
  return new URL(`browser/${name}.mjs`, import.meta.url);
});

/** Joins modules into one script, without imports, in one scope. */
function bundle(modules: readonly URL[]): string {
  const parts = modules.map((module) => {
    return readFileSync(module, 'utf8')
      .replace(/^import [^;]+;\n/gm, '')
      .replace(/^export /gm, '');
  });
  return `(() => {\n'use strict';\n${parts.join('')}})();\n`;
}

function loadChart(): { script: string; styles: string; licence: string; version: string } {
  const read = (name: string) => readFileSync(new URL(`uplot/${name}`, import.meta.url), 'utf8');
  return {
    script: read('uPlot.iife.min.js').trim(),
    styles: read('uPlot.min.css').trim(),
    licence: read('LICENSE'),
    version: (JSON.parse(read('package.json')) as { version: string }).version,
  };
}
