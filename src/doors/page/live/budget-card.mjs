import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';
import { pathOf } from './addresses.mjs';
import { askJson } from './ask.mjs';
import { labelled, rowName, scrolled, tableOf } from './blocks.mjs';
import { dateAndTime, textOf } from './wording.mjs';

/** Shows what a period may spend and who gave it what; gives it more, or resets it. */
export class BudgetCard {
  constructor(host, group) {
    Object.assign(this, { host, path: `${pathOf(group)}/budget`, isBuilt: false });
  }

  /** The group was pushed again. */
  follow(budget) {
    if (!this.isBuilt) this.#build(budget.unit);
    say(this.facts, budgetText(budget));
    if (budget.limit === this.limit) return;
    this.limit = budget.limit;
    void this.#showGifts();
  }

  #build(unit) {
    this.isBuilt = true;
    this.facts = make('p', { className: 'facts' });
    this.amount = make('input', { type: 'text', inputmode: 'decimal', placeholder: '100000' });
    this.id = make('input', { type: 'text', placeholder: 'invoice-7', autocomplete: 'off', spellcheck: 'false' });
    this.resetting = make('button', { type: 'button', className: 'plain', text: RESET });
    this.told = make('p', { className: 'hint', role: 'status', text: COUNTS_ONCE });
    this.gifts = scrolled('Gifts');
    const giving = make('button', { type: 'submit', className: 'plain strong', text: 'Top up' });
    const tools = make('div', { className: 'tools' }, giving, this.resetting);
    const fields = [labelled(unit, this.amount), labelled('id', this.id)];
    const form = make('form', { className: 'change' }, ...fields, tools, this.told);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#give({ amount: Number(this.amount.value.trim() || Number.NaN) });
    });
    this.resetting.addEventListener('click', () => void this.#reset());
    this.host.replaceChildren(this.facts, form, this.gifts);
  }

  /** Asks once more first: a reset is not taken back. */
  async #reset() {
    if (this.resetting.textContent === RESET) say(this.resetting, REALLY);
    else await this.#give({ reset: true });
  }

  async #give(gift) {
    const id = this.id.value.trim();
    const given = await askJson(this.path, { method: 'POST', body: { id, ...gift } }).catch((error) => error);
    say(this.resetting, RESET);
    if (given instanceof Error) say(this.told, textOf(given));
    else {
      const { limit, unit } = given.budget;
      say(this.told, given.isCounted ? `${id} counts: ${limit} ${unit} now.` : `${id} was counted before.`);
      await this.#showGifts();
    }
  }

  async #showGifts() {
    const found = await askJson(this.path).catch((error) => error);
    // A viewer is refused for good.
    if (found instanceof Error) this.gifts.replaceChildren(make('p', { className: 'hint', text: textOf(found) }));
    else if (found.gifts.length === 0) this.gifts.replaceChildren(make('p', { className: 'hint', text: NO_GIFTS }));
    else this.gifts.replaceChildren(giftsTable(found.gifts));
  }
}

const RESET = 'Reset';
const REALLY = 'Reset: all that is spent is there again';
const COUNTS_ONCE = 'Each id counts once, also when it is sent again.';
const NO_GIFTS = 'Nobody has given this budget anything.';
const GIFTS_SHOWN = 20;

function budgetText({ state, because, unit, per, limit, remaining, held, lost, until }) {
  if (state !== 'kept' && because !== '') return `This node cannot know what is left: ${because}.`;
  const parts = [`${rate(remaining)} of ${rate(limit)} ${unit} are left`];
  if (held > 0) parts.push(`nodes hold ${rate(held)}`);
  if (lost > 0) parts.push(`${rate(lost)} were lost with killed nodes`);
  if (until !== null) parts.push(`the ${per} ends ${dateAndTime(new Date(until))}`);
  return parts.join(' · ');
}

/** Lists the newest first. */
function giftsTable(gifts) {
  const rows = gifts.slice(-GIFTS_SHOWN).reverse();
  const body = rows.map(({ id, amount, time, who }) => {
    const what = make('td', { text: amount === null ? 'reset' : String(amount) });
    return make('tr', {}, rowName('', id), what, make('td', { text: `${dateAndTime(new Date(time))}, ${who}` }));
  });
  return tableOf(['Id', 'Amount', 'When, who'], make('tbody', {}, ...body));
}
