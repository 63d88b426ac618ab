import type { GroupExplanation } from '../../api/group-explanation.js';
import { segmentOf } from '../../config/setting/path-segment.js';
import { get, nodeAddress } from '../../node-client/node-requests.js';
import type { ExplainOptions } from './explain-command.js';
import { explanationText } from './explanation-text.js';

/** `quotamesh explain GROUP`. */
export async function showExplanation(group: string, { json = false, ...options }: ExplainOptions): Promise<void> {
  const path = `/v1/groups/${segmentOf(group)}/explain`;
  const explanation = await get<GroupExplanation>(nodeAddress(options), path);
  process.stdout.write(`${json ? JSON.stringify(explanation) : explanationText(explanation)}\n`);
}
