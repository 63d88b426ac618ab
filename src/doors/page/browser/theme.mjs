/** The page's colours and fonts, as the canvas needs them. They are read again when the colour scheme changes. */
export function theme() {
  const probe = document.createElement('i');
  document.body.append(probe);
  // The custom properties name two colours each; only a property of type colour says which one is in force.
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return hexOf(getComputedStyle(probe).color);
  };
  const known = new Map(COLOURS.map((name) => [name, read(name)]));
  probe.remove();
  const colour = (name) => known.get(name);
  return {
    colour,
    node: (node, at) => (node.count > 1 ? colour('rest') : colour(`node-${at % NODE_COLOURS}`)),
    font: '11px system-ui, sans-serif',
  };
}

/** Calls `changed` when the browser's scheme or the page's own choice changes. */
export function themeButton(button, changed) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const say = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Use ${isDark() ? 'light' : 'dark'} colours`);
  };
  const chosen = remembered();
  if (chosen === 'light' || chosen === 'dark') root.dataset.theme = chosen;
  say();
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    remember(root.dataset.theme);
    say();
    changed();
  });
  dark.addEventListener('change', () => {
    say();
    changed();
  });
}

/** A page from a disk may have no storage. */
function remembered() {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

const NODE_COLOURS = 12;
const NAMED = 'paper raised ink muted grid line mark side-a side-b best rest over'.split(' ');
const COLOURS = NAMED.concat(Array.from({ length: NODE_COLOURS }, (_, at) => `node-${at}`));

function hexOf(text) {
  const parts = text.match(/[\d.]+/g).slice(0, 3);
  return `#${parts.map((part) => Math.round(Number(part)).toString(16).padStart(2, '0')).join('')}`;
}
