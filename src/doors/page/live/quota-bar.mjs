import { make } from '../browser/elements.mjs';
import { exceeds } from './wording.mjs';

/** One quota is so wide in a bar; the rest is for what is wanted beyond it. */
const QUOTA_PERCENT = 66;

/** A bar of what is admitted and wanted against a quota. `update` moves it. */
export function quotaBar() {
  const wanted = make('i', { className: 'wanted' });
  const admitted = make('i', { className: 'admitted' });
  const mark = make('i', { className: 'quota' });
  const bar = make('span', { className: 'bar-of-quota', 'aria-hidden': 'true' }, wanted, admitted, mark);
  const update = (row) => {
    const most = row.quota ?? Math.max(row.wanted, row.admitted, 1) * 1.5;
    const width = (value) => `${Math.min(100, (QUOTA_PERCENT * value) / Math.max(most, 1e-9))}%`;
    wanted.style.width = width(row.wanted);
    admitted.style.width = width(row.admitted);
    mark.style.left = `${QUOTA_PERCENT}%`;
    mark.hidden = row.quota === null;
    bar.classList.toggle('full', exceeds(row.wanted, row.quota));
  };
  return { bar, update };
}
