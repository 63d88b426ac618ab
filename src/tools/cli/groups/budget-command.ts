import { Command } from 'commander';
import type { NodeCommandOptions } from '../../node-client/node-address.js';
import { lazily } from '../../terminal/command-parts.js';
import { child } from './group-command.js';

export interface GiftFlags extends NodeCommandOptions {
  readonly id?: string;
}

export function budgetCommand(): Command {
  const budget = new Command('budget').description('Show the budget of a group, top it up, and reset it.');
  child(budget, 'show', 'Print what is spent and left, and who gave it what.')
    .argument('<group>', 'a group with a budget')
    .action(lazily(async () => (await import('./change-budgets.js')).showBudget));
  gift(budget, 'top-up', 'Give units to the present period, beside the budget.')
    .argument('<amount>', 'units of the budget, like 5000 or 100k; cents may have six decimals')
    .action(lazily(async () => (await import('./change-budgets.js')).topUp));
  gift(budget, 'reset', 'Make all that is spent spendable again, less what nodes hold; other gifts stay.').action(
    lazily(async () => (await import('./change-budgets.js')).resetBudget),
  );
  return budget.addHelpText('afterAll', HELP);
}

function gift(parent: Command, name: string, description: string): Command {
  return child(parent, name, description)
    .argument('<group>', 'a group with a budget')
    .option('--id <id>', 'name of the gift: it counts once, however often it is given; default a new one');
}

const HELP = `
A gift counts in the present period alone, at every node, and is kept in the log with who gave it. After exit code 69
give it again with the same --id.

Examples:
  quotamesh budget show acme
  quotamesh budget top-up acme 100k --id invoice-7
  quotamesh budget reset acme --id case-12

Exit codes: 0 done, 2 usage or unknown group, 69 no node or no answer of the log, 78 refused: wrong values, or the caller.`;
