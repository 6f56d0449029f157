import type { Asks } from './asks.ts';
import type { TimeRange } from './time-range.ts';

/** What is asked, read from what people wrote in the chat; a later message changes what an earlier one said. */
export interface Question {
  /** The latest message of a person, or the incident's title. */
  readonly text: string;
  readonly range?: TimeRange;
  /** `… since 14:00`: the person says when it began. */
  readonly beganAt?: Date;
  /** `compare with 13:00 to 13:30`: what is usual. */
  readonly references: readonly TimeRange[];
  readonly asks: Asks;
  /** Messages of people, newest first: service names are looked for in them once it is known which there are. */
  readonly texts: readonly string[];
}

/** The services that the question is about. */
export interface Focus {
  readonly services: readonly string[];
  /** `only payment`: nothing else is looked at. */
  readonly only: boolean;
}
