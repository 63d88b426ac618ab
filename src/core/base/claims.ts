/** Multiplies the demand of a node that is held back, per report, until nothing is held back any more. */
export const CLAIM_FACTOR = 2;
/** Part of an equal part that who has nothing claims first: at an equal part after four reports. */
export const LEAST_CLAIM = 1 / 16;
