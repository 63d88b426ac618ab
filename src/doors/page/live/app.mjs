import { say } from '../browser/elements.mjs';
import { theme, themeButton } from '../browser/theme.mjs';
import { rememberToken } from './ask.mjs';
import { GroupView } from './group-view.mjs';
import { GroupsList } from './groups-list.mjs';
import { NodeView } from './node-view.mjs';
import { recorder } from './recorder.mjs';
import { listen } from './stream.mjs';
import { WhyView } from './why-view.mjs';
import { clockTime, textOf } from './wording.mjs';

/** Seconds that a node remembers; one that is up for less has a shorter slider. */
const PAST_SECONDS = 899;

const element = (id) => document.getElementById(id);
const main = element('main');
const state = { ago: 0, atMs: Date.now(), canChange: true, look: theme() };
let view = null;
let stopListening = () => undefined;

/** One stream carries all that the page shows. It is asked for again when the page shows something else. */
function reopen() {
  stopListening();
  stopListening = listen(view.query, { onEvent: take, onState: tellLink });
}

function take(event, said) {
  if (event === 'node') {
    state.atMs = said.atMs;
    state.canChange = said.canChange;
    element('time').min = String(-Math.min(PAST_SECONDS, Math.floor(said.uptimeMs / 1000)));
    say(element('cluster'), said.cluster);
    say(element('node'), `seen from node ${said.nodeId}`);
    const reasons = [...said.notReadyBecause, ...said.degraded];
    element('link').dataset.state = reasons.length === 0 ? 'open' : 'degraded';
    const trouble = reasons.length === 1 ? 'degraded' : `${reasons.length} reasons to look`;
    say(element('link'), reasons.length === 0 ? 'live' : `live, ${trouble}`);
    element('link').title = reasons.join('\n');
    document.title = `${said.cluster} · quotamesh`;
  }
  view.take(event, said, state.atMs);
  if (state.ago === 0) sayTime();
}

function tellLink(link, reason = '', error) {
  element('link').dataset.state = link;
  const texts = { open: 'live', closed: 'no connection', refused: 'refused' };
  say(element('link'), texts[link]);
  const trouble = element('trouble');
  trouble.hidden = link === 'open';
  if (link !== 'open')
    say(trouble, link === 'closed' ? `The page shows old data: ${reason}. Trying again every second.` : textOf(error));
  const isLogin = link === 'refused' && (error.code === 'ROLE_MISSING' || error.status === 401);
  element('login').hidden = !isLogin;
  if (isLogin) element('token').focus();
}

const VIEWS = new Map([
  ['group', GroupView],
  ['node', NodeView],
  ['why', WhyView],
]);

/** `#/`, `#/group/orders/publish`, `#/node`, `#/why/orders/publish`. */
function show() {
  const [name = '', group = '', way] = location.hash.slice(2).split('/').map(decoded);
  const direction = way === 'dispatch' ? way : 'publish';
  view?.end();
  const parts = { group, direction, look: state.look, goTo, canChange: state.canChange, reopen };
  const View = VIEWS.get(name) ?? GroupsList;
  main.dataset.view = View === GroupsList ? 'groups' : name;
  view = new View(main, parts);
  for (const link of document.querySelectorAll('nav a')) {
    if (link.dataset.view === main.dataset.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (state.ago !== 0) view.at(state.ago);
  reopen();
}

/** Decodes a typed address; a % in it may say nothing. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function goTo(ago) {
  const seconds = Math.max(0, Math.min(-Number(element('time').min), Math.round(ago)));
  element('live').hidden = seconds === 0;
  element('time').value = String(-seconds);
  if (seconds === state.ago) return;
  state.ago = seconds;
  sayTime();
  view.at(seconds);
}

function sayTime() {
  const text = state.ago === 0 ? 'now' : `${clockTime(Math.round(state.atMs / 1000) - state.ago)}, ${state.ago} s ago`;
  say(element('now'), text);
  element('time').setAttribute('aria-valuetext', text);
}

function begin() {
  themeButton(element('theme'), () => {
    state.look = theme();
    view.paint?.(state.look);
  });
  element('time').addEventListener('input', (event) => goTo(-Number(event.target.value)));
  element('live').addEventListener('click', () => goTo(0));
  recorder({
    button: element('record'),
    seconds: element('seconds'),
    left: element('left'),
    onFailed: (error) => {
      element('trouble').hidden = false;
      say(element('trouble'), textOf(error));
    },
  });
  element('login').addEventListener('submit', (event) => {
    event.preventDefault();
    rememberToken(element('token').value.trim());
    element('token').value = '';
    show();
  });
  addEventListener('hashchange', show);
  show();
}

begin();
