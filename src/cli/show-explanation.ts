import type { GroupExplanation } from '../runtime/target/explain.js';
import type { ExplainOptions } from './explain-command.js';
import { explanationText } from './explanation-text.js';
import { get, nodeUrl } from './node-requests.js';

/** `quotamesh explain GROUP`. */
export async function showExplanation(group: string, { url, json = false }: ExplainOptions): Promise<void> {
  const path = `/v1/groups/${encodeURIComponent(group)}/explain`;
  const explanation = await get<GroupExplanation>(nodeUrl(url), path);
  process.stdout.write(`${json ? JSON.stringify(explanation) : explanationText(explanation)}\n`);
}
