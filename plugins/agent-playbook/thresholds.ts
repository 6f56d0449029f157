/**
 * What the ranking turns on, in one place, so that `bench/cross-validate.ts` can choose them on one part of labelled faults
 * and count on another. Where each comes from is told in docs/investigation.md.
 */
export const thresholds = {
  /** Robust deviations from the usual from which on a gauge is a cause by itself. */
  exhausted: 30,
  /** G from which on changed behaviour counts where a person says that something is wrong. */
  changedIfSaid: 8,
  /** Of what it would take to be named by itself, so much of a caller's change moves the blame to the called service. */
  changedAlike: 0.3,
  /** Of a caller's added time, so much added further down moves the blame there: whoever waits looks slow itself. */
  addedAlike: 0.3,
  /** Of all that requests take: less nobody complains of. */
  noticed: 0.1,
  /** Seconds. What a thing looks like is seen so soon after it began: it may be over again long before the range is. */
  aftermath: 300,
  /** So many beginnings are tried where nothing but behaviour changed. */
  beginnings: 3,
  /** From so many chunks on G is divided by how much they scatter: a handful says little of it. */
  fewestChunks: 4,
};
