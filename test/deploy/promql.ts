import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** `quotamesh_backends{state="silent"}`. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Query {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `on`, `group_left` and their like. */
  readonly groupingLabels: readonly string[];
}

/** By Prometheus' own grammar; throws what does not parse. It knows no types: `promtool` does, where there is one. */
export function readQuery(expression: string): Query {
  const tree = parser.parse(expression);
  const text = ({ from, to }: SyntaxNode) => expression.slice(from, to);
  const broken = nodesOf(tree).find((node) => node.type.isError);
  if (broken !== undefined) throw new Error(`not PromQL at ${broken.from}: ${expression}`);
  return {
    selectors: named(tree, 'VectorSelector').map((node) => ({
      metric: text(node.getChild('Identifier') as SyntaxNode),
      matchers: (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
        label: text(matcher.getChild('LabelName') as SyntaxNode),
        operator: text(matcher.getChild('MatchOp') as SyntaxNode),
        value: text(matcher.getChild('StringLiteral') as SyntaxNode).slice(1, -1),
      })),
    })),
    groupingLabels: named(tree, 'GroupingLabels').flatMap((node) => node.getChildren('LabelName').map(text)),
  };
}

function named(tree: Tree, name: string): SyntaxNode[] {
  return nodesOf(tree).filter((node) => node.name === name);
}

function nodesOf(tree: Tree): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  tree.iterate({ enter: ({ node }) => void nodes.push(node) });
  return nodes;
}
