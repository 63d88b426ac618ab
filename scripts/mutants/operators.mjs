/**
 * Makes every mutant of a TypeScript source, as { start, end, code }: the new text and the place of the old one.
 * Texts, types, imports, sizes of scratch arrays and what a throw says are left alone: no test should hold them.
 */
import { parseSync } from 'rolldown/utils';

const OTHER_OPERATORS = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '??=': ['='],
};
const OTHER_CALLS = new Map(
  Object.entries({ min: 'max', max: 'min', some: 'every', every: 'some', floor: 'ceil', ceil: 'floor' }),
);
const SKIPPED = new Set(['ImportDeclaration', 'ThrowStatement', 'ExportAllDeclaration', 'TemplateLiteral']);
/** Wrappers of types around an expression: only what they wrap runs. */
const WRAPPERS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression', 'TSTypeAssertion']);

/** @returns {{ start: number, end: number, code: string, line: number, says: string }[]} in the order of the text */
export function mutantsOf(name, source) {
  const { program, errors } = parseSync(name, source, { lang: 'ts' });
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  const found = [];
  visit(program, null, (node, parent) => {
    for (const mutant of mutationsOf(node, parent, source)) found.push(mutant);
  });
  return found
    .map((mutant) => ({ ...mutant, line: lineOf(source, mutant.start), says: saysOf(source, mutant) }))
    .sort((one, other) => one.start - other.start);
}

function visit(node, parent, look) {
  if (SKIPPED.has(node.type) || isAllocation(node) || (node.type.startsWith('TS') && !WRAPPERS.has(node.type))) return;
  look(node, parent);
  for (const [key, value] of Object.entries(node)) {
    if (isSigns(node) && key !== 'test') continue;
    if (key === 'typeAnnotation' || key === 'typeArguments' || key === 'typeParameters') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child !== null && typeof child === 'object' && typeof child.type === 'string') visit(child, node, look);
    }
  }
}

function* mutationsOf(node, parent, source) {
  const text = ({ start, end }) => source.slice(start, end);
  const instead = (part, code) => ({ start: part.start, end: part.end, code });
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      for (const operator of OTHER_OPERATORS[node.operator] ?? []) {
        if (operator === '<=' && isFixedLoop(node, parent)) continue;
        const between = source.indexOf(node.operator, node.left.end);
        yield { start: between, end: between + node.operator.length, code: operator };
      }
      return;
    case 'IfStatement':
    case 'ConditionalExpression':
      yield instead(node.test, 'true');
      yield instead(node.test, 'false');
      return;
    case 'WhileStatement':
      yield instead(node.test, 'false');
      return;
    case 'UnaryExpression':
      if (node.operator === '!') yield instead(node, `(${text(node.argument)})`);
      else if (node.operator === '-' && node.argument.type !== 'Literal')
        yield instead(node, `(${text(node.argument)})`);
      return;
    case 'UpdateExpression': {
      const [from, to] = node.operator === '++' ? ['++', '--'] : ['--', '++'];
      // A loop that counts down for ever only costs its time limit.
      if (parent.type !== 'ForStatement') yield instead(node, text(node).replace(from, to));
      return;
    }
    case 'Literal':
      if (typeof node.value === 'boolean') yield instead(node, String(!node.value));
      // Larger numbers are measures: one more or less is no fault.
      else if (typeof node.value === 'number' && node.value <= 2) yield instead(node, String(node.value + 1));
      return;
    case 'CallExpression': {
      const { callee } = node;
      const other =
        callee.type === 'MemberExpression' && !callee.computed ? OTHER_CALLS.get(callee.property.name) : undefined;
      if (other !== undefined) yield instead(callee.property, other);
      return;
    }
    case 'ExpressionStatement':
      if (!node.directive && !isSuperCall(node)) yield instead(node, ';');
      return;
    case 'ContinueStatement':
    case 'BreakStatement':
      if (parent.type !== 'SwitchCase') yield instead(node, ';');
      return;
    case 'ReturnStatement':
      if (node.argument === null && parent.type !== 'Program') yield instead(node, ';');
  }
}

/** Whether a comparison is `at < DIMENSION_COUNT` of a loop: one place further an array is undefined, which changes nothing. */
function isFixedLoop({ right }, parent) {
  return parent.type === 'ForStatement' && right.type === 'Identifier' && /^[A-Z_]+$/.test(right.name);
}

/** How much room a scratch array has at first. */
function isAllocation({ type, callee }) {
  return type === 'NewExpression' && /Array$/.test(callee.name ?? '');
}

/** `? -1 : 1`, the answer of a comparison: its sign alone is asked. */
function isSigns({ type, consequent, alternate }) {
  return (
    type === 'ConditionalExpression' &&
    consequent.operator === '-' &&
    consequent.argument?.value === 1 &&
    alternate.value === 1
  );
}

function isSuperCall({ expression }) {
  return expression.type === 'CallExpression' && expression.callee.type === 'Super';
}

function lineOf(source, at) {
  return source.slice(0, at).split('\n').length;
}

/** The line as it would read, shortened to one line of text. */
function saysOf(source, { start, end, code }) {
  const begin = source.lastIndexOf('\n', start - 1) + 1;
  const stop = (source.indexOf('\n', end) + 1 || source.length + 1) - 1;
  const was = source.slice(begin, stop).trim().replace(/\s+/g, ' ');
  const is = (source.slice(begin, start) + code + source.slice(end, stop)).trim().replace(/\s+/g, ' ');
  return `${was}  →  ${is}`;
}
