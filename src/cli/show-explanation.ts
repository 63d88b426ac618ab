import type { GroupExplanation } from '../runtime/target/explain.js';
import type { ExplainOptions } from './explain-command.js';
import { explanationText } from './explanation-text.js';
import { askedNode, get } from './node-requests.js';

/** `quotamesh explain GROUP`. */
export async function showExplanation(group: string, { json = false, ...options }: ExplainOptions): Promise<void> {
  const path = `/v1/groups/${encodeURIComponent(group)}/explain`;
  const explanation = await get<GroupExplanation>(askedNode(options), path);
  process.stdout.write(`${json ? JSON.stringify(explanation) : explanationText(explanation)}\n`);
}
