import { readFileSync } from 'node:fs';
import { html } from '../html.js';
import { selfContainedPage } from '../self-contained-page.js';

/** Returns the live page; it asks the node for all figures, as its user. The first strategy is the default. */
export function livePage(strategies: readonly string[]): string {
  return selfContainedPage({
    title: 'live',
    body: BODY,
    values: { strategies },
    modules: MODULES.map((name) => new URL(`${name}.mjs`, import.meta.url)),
    styles: readFileSync(new URL('live.css', import.meta.url), 'utf8'),
    asksServer: true,
  });
}

const BODY = html`<a class="skip" href="#main">To the content</a>
<header class="bar">
<p class="brand">quotamesh</p>
<p class="where"><b id="cluster" class="name">…</b> <span id="node" class="name"></span></p>
<nav aria-label="Views"><a href="#/" data-view="groups">Groups</a><a href="#/node" data-view="node">Node</a><a href="#/why" data-view="why">Why</a></nav>
<p id="link" role="status" data-state="opening">connecting</p>
<button type="button" class="plain" id="theme"></button>
</header>
<section class="timebar" aria-label="Time and recording">
<output id="now">now</output>
<span class="track"><input type="range" id="time" aria-label="Time, the last 15 minutes" min="-899" max="0" step="1" value="0"></span>
<button type="button" class="plain" id="live" hidden>Back to now</button>
<span class="record"><button type="button" class="plain" id="record">Record this</button>
<label>for the next <select id="seconds"><option value="30">30 s</option><option value="60" selected>1 min</option><option value="300">5 min</option><option value="900">15 min</option></select></label>
<span id="left" aria-hidden="true"></span></span>
</section>
<noscript><p class="note">The live page needs JavaScript. <code>curl</code> this address for the routes.</p></noscript>
<p id="trouble" class="note" role="alert" hidden></p>
<form id="login" class="card" hidden>
<h2>This node asks who you are</h2>
<label>Token <input type="password" id="token" autocomplete="off" spellcheck="false"></label>
<button type="submit" class="plain">Show the page</button>
<p class="hint">It stays in this tab, and goes to this node alone.</p>
</form>
<main id="main" tabindex="-1"></main>`;

/** Modules in the order of need. */
const MODULES = [
  'addresses',
  'wording',
  'ask',
  'stream',
  'past',
  'blocks',
  'tiles',
  'quota-bar',
  'groups-list',
  'group-charts',
  'last-changes',
  'budget-card',
  'key-change',
  'what-if',
  'group-view',
  'key-lookup',
  'node-view',
  'why-steps',
  'why-view',
  'recorder',
  'app',
];
