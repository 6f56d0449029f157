import { SightlineError } from '../../../src/contract/core/index.ts';
import { literal } from '../quote.ts';
import type { Settings } from './endpoint.ts';
import { EngineError } from './failures.ts';
import type { StatementLabel } from '../../../src/contract/telemetry/index.ts';

/** It travels in the URL, which has its bounds. */
const longest = 200;

/** For `log_comment`: in system.query_log and system.processes, to be read with JSONExtract. */
export function labelJson({ principal, tool, traceId }: StatementLabel): string {
  return JSON.stringify({ principal: short(principal), tool: short(tool), trace_id: short(traceId) });
}

function short(text: string): string {
  return text.slice(0, longest).toWellFormed();
}

/** Results in the contract's spelling of values. Without these rows would come out wrong, so they have to hold. */
const spelling = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  output_format_json_named_tuples_as_objects: 1,
  output_format_json_validate_utf8: 1,
  date_time_output_format: 'iso',
  // What a statement says of time without naming a zone: now(), today(), text.
  session_timezone: 'UTC',
} as const satisfies Settings;

/** What every query is sent with where the server lets it be set, beside its time. */
export const sentSettings = {
  ...spelling,
  output_format_json_escape_forward_slashes: 0,
  cancel_http_readonly_queries_on_client_close: 1,
  http_write_exception_in_output_format: 0,
  log_comment: '',
} as const satisfies Settings;

const wished = { ...sentSettings, max_execution_time: 3_600 } as const satisfies Settings;

/** Settings that the profile of the gateway's user has to let be changed (CHANGEABLE_IN_READONLY). */
export const changedSettings: readonly string[] = Object.keys(wished);

export interface AgreedSettings {
  /** Sent as they are. */
  readonly fixed: Settings;
  /** Most seconds that `max_execution_time` may be set to; undefined: it may not be set. */
  readonly mostSeconds: number | undefined;
  /** Whether the label can go into `log_comment`. */
  readonly logComment: boolean;
}

/** Runs a statement of ours with settings; answers its rows' first column as text. */
export type Ask = (sql: string, settings: Settings) => Promise<readonly string[]>;

/** Finds out what the server lets be set, which differs by version and profile. Throws plugin_failed where it is too little. */
export async function agree(ask: Ask, operators: Settings): Promise<AgreedSettings> {
  const settings = new Map<string, string | number | boolean>(Object.entries({ ...wished, ...operators }));
  const refused = new Set<string>();
  // Each round settles one of them.
  for (let round = 0; round <= settings.size * 2; round += 1) {
    try {
      await ask('SELECT 1', Object.fromEntries(settings));
      break;
    } catch (error) {
      const { name, most } = refusedSetting(error);
      if (name === undefined || !settings.has(name)) throw error;
      if (Object.hasOwn(operators, name)) throw notChangeable([name], error);
      if (most !== undefined && name === 'max_execution_time' && settings.get(name) !== most) {
        settings.set(name, most);
        continue;
      }
      settings.delete(name);
      refused.add(name);
    }
  }
  await expectSpelling(ask, refused);
  const { max_execution_time: seconds, log_comment: comment, ...fixed } = Object.fromEntries(settings);
  return { fixed, mostSeconds: typeof seconds === 'number' ? seconds : undefined, logComment: comment !== undefined };
}

/** What may not be changed may be right already. */
async function expectSpelling(ask: Ask, refused: ReadonlySet<string>): Promise<void> {
  const wanted = Object.entries(spelling).filter(([name]) => refused.has(name));
  if (wanted.length === 0) return;
  const names = wanted.map(([name]) => literal(name)).join(', ');
  const rows = await ask(`SELECT concat(name, '=', value) FROM system.settings WHERE name IN (${names})`, {});
  const wrong = wanted.filter(([name, value]) => {
    const row = rows.find((text) => text.startsWith(`${name}=`));
    // A version that does not know the setting yet has always done it that way.
    return row !== undefined && row !== `${name}=${value}`;
  });
  if (wrong.length > 0) throw notChangeable(wrong.map(([name]) => name));
}

function refusedSetting(error: unknown): { readonly name?: string | undefined; readonly most?: number } {
  if (!(error instanceof EngineError)) return {};
  const { message } = error;
  const above = /Setting (\w+) shouldn't be greater than (\d+)/.exec(message);
  if (above !== null) return { name: above[1], most: Number(above[2]) };
  const found =
    /Cannot modify '(\w+)' setting/.exec(message) ??
    /Setting '?(\w+)'? (?:should not be changed|shouldn't be|is neither|is unknown)/i.exec(message) ??
    /Unknown setting '?(\w+)'?/.exec(message);
  return { name: found?.[1] };
}

function notChangeable(names: readonly string[], cause?: unknown): SightlineError {
  const list = names.join(', ');
  return new SightlineError(
    'plugin_failed',
    'The ClickHouse profile does not let the gateway set how times are read and results written.',
    {
      operatorMessage: `ClickHouse: the profile of the gateway's user must let these settings be changed (CHANGEABLE_IN_READONLY), or have them as they are wanted: ${list}. sightline telemetry setup --print writes such a profile.`,
      cause,
    },
  );
}
