import { readFileSync } from 'node:fs';

const { version, sections } = JSON.parse(readFileSync(new URL('../stage/navigation.json', import.meta.url), 'utf8'));

export default {
  title: 'quotamesh',
  description: 'Cluster-wide quotas with local decisions',
  lang: 'en',
  srcDir: 'stage',
  lastUpdated: false,
  // A link of a text file may look like a page: `http://127.0.0.1:7070/…` is the reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify }, theme: { light: 'github-light', dark: 'github-dark' } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      ...sections.slice(0, 2).map(({ text, pages }) => ({ text, link: linkOf(pages[0]) })),
      { text: 'Operate', link: '/operate/deployment' },
      { text: 'HTTP', link: '/http/' },
      { text: 'Library', link: '/library/' },
      { text: `v${version}`, items: [{ text: 'Changelog', link: '/changelog' }] },
    ],
    sidebar: sections.map(({ text, isClosed = false, pages }) => ({
      text,
      collapsed: isClosed,
      items: pages.map((page) => ({ text: page.text, link: linkOf(page) })),
    })),
    footer: { message: `quotamesh ${version} · Apache-2.0` },
  },
};

function linkOf({ link }) {
  return link.replace(/(index)?\.md$/, '');
}

/** Headings are called as on the pages of a repository, so that one link works in both. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
