import type { DialectWriter } from '../../src/contract/telemetry/index.ts';
import type { Data, Window, Words } from './spans.ts';

/** Cells as whoever answered gave them. */
export type Rows = readonly (readonly unknown[])[];

/** An engine with the data in it, to be asked in two ways. */
export interface Stage {
  /** With its version. */
  readonly title: string;
  readonly words: Words;
  readonly write: DialectWriter;
  /** Without us. */
  readonly own: {
    /** The physical table. */
    readonly spans: string;
    /** By which it holds one organization's rows. */
    readonly conditions: readonly string[];
    ask(sql: string): Promise<Rows>;
  };
  /** `query_otel`. */
  readonly tool: { ask(sql: string, window: Window): Promise<Rows> };
}

/** Says how far a load is, on standard error. @param spans that are in by now. */
export type Progress = (spans: number) => void;

export interface Engine {
  readonly name: string;
  /** Whatever must end or go is left on `stack`, also where this rejects. */
  start(data: Data, stack: AsyncDisposableStack, progress: Progress): Promise<Stage>;
}
