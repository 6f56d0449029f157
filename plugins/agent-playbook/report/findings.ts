import type { Conclusion } from '../../../src/contract/storage/index.ts';
import type { Windows } from '../stretches.ts';

/** What an investigation came to, before it is put into words for a chat or a document. */
export interface Report {
  readonly conclusion: Conclusion;
  /** One line: what is wrong, or that nothing is. */
  readonly headline: string;
  readonly windows: Windows | undefined;
  /** Who is affected, and how much. */
  readonly impact: readonly string[];
  readonly timeline: readonly { readonly at: Date; readonly what: string }[];
  readonly ruledOut: readonly string[];
  readonly nextSteps: readonly string[];
  readonly openQuestions: readonly string[];
  /** What the reader has to know about how it was looked at. */
  readonly notes: readonly string[];
}
