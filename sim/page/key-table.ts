import { type Html, html } from '../../src/doors/page/html.js';
import { grouped } from './verdict-table.js';

export interface PageKeys {
  readonly per: string;
  readonly rows: readonly {
    readonly name: string;
    readonly offered: number;
    /** By run. */
    readonly refused: readonly number[];
  }[];
}

/** Draws a row per key: wanted, and refused by each system. */
export function keySection({ per, rows }: PageKeys, labels: readonly string[]): Html {
  const heads = labels.map((label) => html`<th scope="col"><span class="name">${label}</span></th>`);
  const body = rows.map(({ name, offered, refused }) => {
    const cells = refused.map((messages) => {
      return html`<td>${grouped(messages)} <small>${((100 * messages) / (offered || 1)).toFixed(1)} %</small></td>`;
    });
    return html`<tr><th scope="row"><span class="name">${name}</span></th><td>${grouped(offered)}</td>${cells}</tr>
`;
  });
  return html`<section aria-labelledby="keys-title">
<h2 id="keys-title">Refused by ${per}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Messages that each system refused of every key">
<table class="verdict keys"><thead><tr><th scope="col">${per}</th><th scope="col">Asked for</th>${heads}</tr></thead>
<tbody>${body}</tbody></table></div>
</section>`;
}
