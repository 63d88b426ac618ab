export interface TestGroup {
  readonly projects: readonly string[];
  readonly workers: number;
}

export const NPM_TEST: readonly TestGroup[];
export const TEST_LONG: readonly TestGroup[];
export const NEWER_NODES: readonly string[];
export const PROJECTS: readonly string[];
export function groupOf(project: string): {
  readonly maxWorkers: number;
  readonly sequence: { readonly groupOrder: number };
};
