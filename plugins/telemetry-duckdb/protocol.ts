/** What the gateway asks of an engine process, and what it answers. The header of a frame is one of these. */

/** Queries of one organization that run at once: they share two threads, and more would only share them thinner. */
export const queriesAtOnce = 4;

export type Request =
  | { readonly op: 'hello' }
  /**
   * Payload of the answer: json_serialize_sql's text of the statement. Where that is a tree, and none larger than
   * `maxTreeBytes`, two lines follow: the tree of the SQL that the engine writes of it, and that SQL.
   */
  | { readonly op: 'parse'; readonly sql: string }
  /** Parts: rows. */
  | ({ readonly op: 'query'; readonly sql: string } & RowLimits)
  | { readonly op: 'committed'; readonly log: string }
  /** Payload: the encoded batches, of these lengths. */
  | {
      readonly op: 'load';
      readonly log: string;
      readonly segment: number;
      readonly offset: number;
      readonly lengths: readonly number[];
    }
  | { readonly op: 'retain'; readonly beforeMs: number }
  /** The caller is about to leave. */
  | { readonly op: 'release' }
  /** For whoever needs an engine's place; neither makes the caller one of its users. */
  | { readonly op: 'idle' }
  /** Asks its users to leave unless they are using it. */
  | { readonly op: 'make_room' };

export interface RowLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly maxCellBytes: number;
}

export interface Hello {
  readonly pid: number;
  readonly version: string;
}

/** Of a tree's JSON: a third of it for as many trace ids as fit a statement. Bounds what is spent on one. */
export const maxTreeBytes = 1024 * 1024;

/** Header of every part of a result and of its end; `columns` comes with the first frame, `end` with the last. */
export interface RowsHeader {
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly end?: { readonly truncated?: 'rows' | 'bytes'; readonly cutCells: number };
}

export interface Committed {
  readonly position?: { readonly segment: number; readonly offset: number };
}

export interface Released {
  /** Whether somebody else still uses the engine. */
  readonly shared: boolean;
}

export interface Idle {
  /** For so long it had nothing to do; 0 while it has. */
  readonly ms: number;
}

export type FailureKind =
  /** The engine's own error. */
  | 'engine'
  /** Stopped on our demand. */
  | 'interrupted'
  /** Waited too long for its turn. */
  | 'busy'
  /** More or less than one statement, or not a SELECT. */
  | 'not_select'
  /** A batch that will not load at any other time either. */
  | 'bad_batch';

export interface Failure {
  readonly kind: FailureKind;
  /** For the log. */
  readonly message: string;
}

/** How an engine process ended, where that says something. */
export const exitCode = {
  /** The file cannot be opened or read. */
  unreadable: 65,
  /** No space left. */
  full: 66,
  /** All seats of the data directory are taken. */
  crowded: 67,
  /** Another engine process has the file and answers. */
  taken: 69,
  /** The type stripper took the address space; the cache is warm now. */
  again: 75,
} as const;

/** The argument of an engine process, as JSON. */
export interface EngineSettings {
  readonly socket: string;
  readonly file: string;
  readonly temporary: string;
  readonly memoryLimitMb: number;
  readonly threads: number;
  /** How many engines there may be on the data directory, and where they hold their places. */
  readonly seats: { readonly folder: string; readonly count: number };
}
