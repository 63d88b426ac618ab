import { make, say } from '../browser/elements.mjs';
import { rate } from '../browser/figures.mjs';
import { groupHref, pathOf, pathOfKey } from './addresses.mjs';
import { askJson } from './ask.mjs';
import { choice, labelled } from './blocks.mjs';
import { ruleSteps, stepsOf } from './why-steps.mjs';
import { perSecond, textOf } from './wording.mjs';

/** Shows a request and each step of its decision: the numbers are of this moment. */
export class WhyView {
  constructor(host, { group, direction }) {
    Object.assign(this, { host, shown: null });
    this.#build(group, direction);
    if (group !== '') void this.#explain();
  }

  get query() {
    return new URLSearchParams();
  }

  take(event, said) {
    if (event !== 'node') return;
    this.node = said;
    if (this.shown !== null && !this.asking) void this.#explain();
  }

  /** Says that explanations of the past are not kept. */
  at(ago) {
    say(
      this.time,
      ago === 0 ? '' : 'Time is set back, and the steps are still those of this moment: a node remembers no decisions.',
    );
  }

  end() {
    this.isEnded = true;
  }

  #build(group, direction) {
    this.group = make('input', {
      type: 'text',
      value: group,
      required: true,
      spellcheck: 'false',
      placeholder: 'orders',
    });
    this.direction = choice(['publish', 'dispatch'], direction);
    this.amount = make('input', { type: 'number', value: '1', min: '0', step: '1' });
    this.dimension = choice(['messages', 'bytes'], 'messages');
    this.form = make(
      'form',
      { className: 'change card why' },
      labelled('Group or key', this.group),
      labelled('Direction', this.direction),
      labelled('Amount', this.amount),
      labelled('Unit', this.dimension),
      make('button', { type: 'submit', className: 'plain strong', text: 'Explain' }),
    );
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#explain();
    });
    this.time = make('p', { className: 'hint', role: 'status' });
    this.verdict = make('p', { className: 'verdict-line', role: 'status' });
    this.steps = make('ol', { className: 'steps' });
    this.advice = make('div', { className: 'advice' });
    const hint = 'Nothing is taken. Limits of topics and clients inside the group are not among the steps.';
    this.host.replaceChildren(
      make('h1', { text: 'Why' }),
      this.form,
      this.time,
      this.verdict,
      make(
        'div',
        { className: 'split' },
        this.steps,
        make('div', {}, this.advice, make('p', { className: 'hint', text: hint })),
      ),
    );
  }

  async #explain() {
    this.asking = true;
    const asked = {
      group: this.group.value,
      direction: this.direction.value,
      amount: Number(this.amount.value),
      dimension: this.dimension.value,
    };
    try {
      const found = await this.#found(asked.group);
      if (this.isEnded) return;
      this.#show(asked, found);
      this.shown = asked;
    } catch (error) {
      this.shown = null;
      say(this.verdict, textOf(error));
      this.verdict.className = 'verdict-line stop';
      this.steps.replaceChildren();
      this.advice.replaceChildren();
    } finally {
      this.asking = false;
    }
  }

  /** Finds what explains a group or key. A key has no shares while it is silent, or in use at other nodes alone. */
  async #found(name) {
    const explained = await askJson(`${pathOf(name)}/explain`).catch((error) => error);
    if (!(explained instanceof Error)) {
      const { definition } = await askJson(`${pathOf(name)}/definition`).catch(() => ({ definition: {} }));
      return { explained, maxRequest: definition.maxRequest };
    }
    const key = await askJson(pathOfKey(name)).catch((error) => error);
    if (!(key instanceof Error)) return { key };
    throw explained.code === 'KEY_SILENT' ? key : explained;
  }

  #show({ group, direction, amount, dimension }, { explained, maxRequest, key }) {
    if (key !== undefined) {
      if (key.silent) this.#showSilentKey(key, direction, amount, dimension);
      else this.#showKeyOfOthers(key, direction);
      return;
    }
    const explanation = explained.directions[direction];
    const ready = this.node?.ready ?? true;
    const told = stepsOf({ explanation, group: explained, ready, amount, dimension, maxRequest });
    this.#write(told, `Node ${explained.node}`);
    const refused = explanation.local.refusedBecause.slice(0, 3).map(refusalText);
    const link = make('a', { href: groupHref(group, direction), text: `All of ${group}` });
    this.advice.append(
      make(
        'p',
        {},
        refused.length === 0 ? 'Nothing was refused here lately. ' : `Refused here lately: ${refused.join('; ')}. `,
        link,
      ),
    );
  }

  #showKeyOfOthers(key, direction) {
    const steps = [
      ...ruleSteps(key.rule),
      { title: `A key of template ${key.template}`, says: 'It is a group like any other.', state: 'go' },
      reportsStep(key, direction),
    ];
    this.#write({ steps, passes: true, advice: [] }, '');
    say(this.verdict, 'This node does not use the key: ask one of those that do.');
  }

  #showSilentKey(key, direction, amount, dimension) {
    const { template, rule, leftUnpublished } = key;
    const left = leftUnpublished?.[direction]?.[dimension] ?? null;
    const isEnough = left === null || left >= amount;
    const steps = [
      ...ruleSteps(rule),
      {
        title: `A key of template ${template}`,
        says: 'This node spends it without publishing it.',
        state: 'go',
      },
      {
        title: left === null ? 'Nothing limits it' : `Left unpublished: ${rate(left)} ${dimension}`,
        says: isEnough
          ? 'That is enough.'
          : 'The next request makes the key a group like any other, and the log decides.',
        state: isEnough ? 'go' : 'note',
      },
      ...(key.reports[direction].length === 0 ? [] : [reportsStep(key, direction)]),
    ];
    this.#write({ steps, passes: true, advice: [] }, 'This node');
  }

  #write({ steps, passes, advice }, who) {
    say(this.verdict, passes ? `${who} would let it pass now.` : `${who} would refuse it now.`);
    this.verdict.className = `verdict-line ${passes ? 'go' : 'stop'}`;
    this.steps.replaceChildren(
      ...steps.map(({ title, says, state }) =>
        make('li', { className: state }, make('b', { text: title }), make('p', { text: says })),
      ),
    );
    const items = advice.map((text) => make('li', { text }));
    this.advice.replaceChildren(
      ...(items.length === 0 ? [] : [make('h2', { text: 'What would let it pass' }), make('ul', {}, ...items)]),
    );
  }
}

/** Lists the users of a key, by the log. */
function reportsStep({ reports, group }, direction) {
  const quota = group?.directions[direction].quota ?? {};
  const unit = quota.messagesPerSecond == null && quota.bytesPerSecond != null ? 'bytes' : 'messages';
  const figure = (rates) => perSecond(rates[`${unit}PerSecond`], unit);
  const nodes = reports[direction].map(
    ({ nodeId, usage, demand }) => `${nodeId} wants ${figure(demand)} and is admitted ${figure(usage)}`,
  );
  return { title: 'Reported in the log', says: nodes.join('; ') || `Nothing of ${direction}.`, state: 'note' };
}

/** `12 messages at the level of the group, because of messages`. */
function refusalText({ level, dimension, reason, count }) {
  if (level === null) return `${rate(count)} because the node decided nothing`;
  const what = count === 1 ? '1 request' : `${rate(count)} requests`;
  return `${what} at the level of the ${level}, for ${dimension}${reason === dimension ? '' : ` (${reason})`}`;
}
