import type { Introduction, ViewFrame } from './frame.js';
import { PlainView } from './plain-view.js';
import { TableView } from './table-view.js';

export interface View {
  show(frame: ViewFrame): void;
  /** Writes lines that stay. */
  tell(lines: readonly string[]): void;
  /** Leaves the terminal as it was found. */
  end(): void;
}

/** Draws in place on a terminal, as plain lines elsewhere and on request. */
export function createView(introduction: Introduction, plain: boolean): View {
  const out = process.stdout;
  return out.isTTY && !plain ? new TableView(out, introduction) : new PlainView(out, introduction);
}
