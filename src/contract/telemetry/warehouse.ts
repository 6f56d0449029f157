import type { ValueNote } from './values.ts';

/**
 * What an operator does with a warehouse: set it up, find the mapping for it, and try its boundary. `setup` and `inspect`
 * are asked of a plugin that was not started, since there may be no mapping yet; `probe` of one that was. What they open
 * is closed when they answer.
 */
export interface WarehouseOperations {
  /** What a database administrator runs once, from this configuration. */
  setup(signal: AbortSignal): Promise<readonly SetupScript[]>;
  /** Looks at the warehouse's tables and says which preset fits. */
  inspect(signal: AbortSignal): Promise<Inspection>;
  /** Looks at values through the mapping of the configuration; undefined where it maps nothing that could be looked at. */
  look?(signal: AbortSignal): Promise<readonly ValueNote[] | undefined>;
  /**
   * Logs in as the gateway does and attempts what must not succeed: writes, other organizations' rows, files, URLs, network,
   * system tables, setting overrides. Serving refuses to start on a `fail`. A single-layer boundary is a `fail` unless the
   * plugin's config names it (`isolation: degraded`), and then a `warn`.
   */
  probe(signal: AbortSignal): Promise<readonly Finding[]>;
  /** Throws config_invalid for what is wrong with mapping and tenancy whatever the warehouse holds. Connects to nothing. */
  readonly check?: () => Promise<void>;
  /** The same for somebody who looks around with another login. Left out where the login is no part of a URL. */
  readonly as?: (url: string) => WarehouseOperations;
}

export interface Finding {
  /** Two or three words: what was looked at. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** One sentence, without secrets. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface SetupScript {
  /** What it is for and who runs it, in one line. */
  readonly title: string;
  /** SQL of the warehouse, statements ended by semicolons; passwords are placeholders. */
  readonly sql: string;
  /** It changes what other logins may do there, and is printed only when asked for. */
  readonly everybody?: true;
}

export interface Inspection {
  /** Engine and version. */
  readonly server: string;
  /** Best first. */
  readonly candidates: readonly InspectedPreset[];
}

export interface InspectedPreset {
  readonly preset: string;
  readonly title: string;
  /** The `mapping` section to put under `telemetry` in the config file. */
  readonly mapping: Readonly<Record<string, unknown>>;
  /** Physical names by logical table, where they were found. */
  readonly found: Readonly<Record<string, string>>;
  /** What queries will not find, and what they are given instead. */
  readonly missing: readonly { readonly what: string; readonly instead: string }[];
  /** What the values say, where the engine's are looked at. */
  readonly notes?: readonly ValueNote[];
}
