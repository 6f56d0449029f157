import type { DialectWriter } from '../../src/contract/telemetry/index.ts';
import type { Notebook, Windows } from './notebook.ts';
import type { Focus } from './question/asks.ts';
import type { Template } from './templates/drain.ts';
import type { AgentEvent } from '../../src/contract/agent/index.ts';

/** A step: yields what it does, returns what it found. */
export type Step<Found> = AsyncGenerator<AgentEvent, Found>;

/** What every step works with, once it is known which services and which time are meant. */
export interface Scene {
  readonly notebook: Notebook;
  readonly write: DialectWriter;
  readonly windows: Windows;
  readonly focus: Focus;
  /** There are spans enough to judge by them. */
  readonly traced: boolean;
  /** How many of 256 parts of the traces are joined; undefined: all. */
  readonly sample: number | undefined;
  /** Kinds of log lines that only names tell apart. */
  readonly templates: readonly Template[];
  /** When it began, as told or found. */
  readonly beganAt: Date | undefined;
  /** When the alert came that is asked about. */
  readonly alertedAt: Date | undefined;
  /** A person or an alert says that something is wrong at this time, and does not ask whether. */
  readonly said: boolean;
  /** When all telemetry ended, where that is before the end of what is asked about. */
  readonly until: Date | undefined;
  /** Of the incident, such as production. */
  readonly environment: string | undefined;
}
