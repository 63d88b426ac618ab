/** Factor by which each report raises a held-back node's demand. */
export const CLAIM_FACTOR = 2;
/** First claim of a node without a share, in equal parts: 1 after four reports. */
export const LEAST_CLAIM = 1 / 16;
