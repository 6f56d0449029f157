import { basename, dirname, relative } from 'node:path';
import { stripVTControlCharacters, styleText } from 'node:util';
import { SightlineError, type ErrorCode } from '../contract/core/index.ts';
import { shellWord } from '../contract/core/quote.ts';
import { exitCodeOf } from './exit.ts';

/** Lines of YAML for a config section: objects, lists, strings, numbers and booleans. */
export function yaml(value: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(value).flatMap(([key, item]) => entry(`${scalar(key)}:`, item));
}

function entry(head: string, item: unknown): readonly string[] {
  if (Array.isArray(item)) {
    if (item.length === 0) return [`${head} []`];
    return [head, ...item.flatMap((each) => entry('-', each)).map((line) => `  ${line}`)];
  }
  if (isRecord(item)) {
    const lines = yaml(item).map((line) => `  ${line}`);
    return lines.length === 0 ? [`${head} {}`] : [head, ...lines];
  }
  return [`${head} ${scalar(item)}`];
}

/** A plain word as it is, everything else as JSON, which is YAML too. */
function scalar(value: unknown): string {
  const plain =
    typeof value === 'string' &&
    /^[A-Za-z_][\w./-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

type Style = Parameters<typeof styleText>[0];

/** Where a command says what it did: words for people, or JSON for scripts. */
export interface Output {
  readonly json: boolean;
  /** The result: `value` as one line of JSON for scripts, else what `human` makes of it. */
  result(value: unknown, human: () => string): void;
  /** Words for people on standard output; nothing for scripts. */
  say(text: string): void;
  /** A bar on a terminal's standard error, 0 to 1; nothing elsewhere. A result, or undefined, takes it away. */
  progress(fraction: number | undefined, label?: string): void;
  /** Something that went wrong without ending the command; on standard error. */
  warn(text: string): void;
  /** Reports a failure on standard error and answers the exit code. */
  failure(error: unknown): number;
  usage(message: string, usage: string, help?: string): number;
  /** Coloured only on a terminal, and NO_COLOR is obeyed. */
  style(style: Style, text: string): string;
}

export function createOutput({ json }: { readonly json: boolean }): Output {
  const { stdout, stderr } = process;
  const error = (code: ErrorCode | 'usage', message: string, hint: string | undefined): number => {
    if (json) stderr.write(`${JSON.stringify({ error: { code, message, ...(hint !== undefined && { hint }) } })}\n`);
    else {
      stderr.write(`${styleText(['red', 'bold'], 'error:', { stream: stderr })} ${printable(message)}\n`);
      if (hint !== undefined) stderr.write(`${printable(pasteable(hint))}\n`);
    }
    return exitCodeOf(code);
  };
  const progress: Output['progress'] = (fraction, label = '') => {
    if (json || !stderr.isTTY) return;
    if (fraction === undefined) return void stderr.write('\r\u{1b}[K');
    const width = 30;
    const done = Math.round(Math.min(1, Math.max(0, fraction)) * width);
    const bar = '█'.repeat(done) + '░'.repeat(width - done);
    stderr.write(`\r\u{1b}[K${label} ${bar} ${Math.floor(fraction * 100)} %`);
  };
  return {
    json,
    progress,
    result(value, human) {
      progress(undefined);
      stdout.write(json ? `${JSON.stringify(value)}\n` : `${human()}\n`);
    },
    say(text) {
      if (!json) stdout.write(`${text}\n`);
    },
    warn(text) {
      if (json) return void stderr.write(`${JSON.stringify({ warning: text })}\n`);
      stderr.write(`${styleText('yellow', 'warning:', { stream: stderr })} ${printable(pasteable(text))}\n`);
    },
    failure(thrown) {
      if (thrown instanceof SightlineError)
        return error(thrown.code, thrown.operatorMessage ?? thrown.message, thrown.hint);
      // Anything else is a fault of ours, for which a report needs the place.
      const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      return error('internal', `Something unexpected went wrong. ${text}`, undefined);
    },
    usage(message, usage, help) {
      if (help !== undefined && !json) {
        stderr.write(help);
        return exitCodeOf('usage');
      }
      const name = usage.split(/ [[<]/, 1)[0] ?? usage;
      return error('usage', ended(message), `Usage: ${usage}\nHelp:  ${name} --help`);
    },
    style: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

/** The rows as JSON for scripts, else as a table of their cells. */
export function showRows<Row>(
  output: Output,
  rows: readonly Row[],
  heading: readonly string[],
  cells: (row: Row) => readonly string[],
  none: string,
): void {
  output.result(rows, () => table(output, heading, rows.map(cells), none));
}

/** Rows under a heading, columns aligned; `none` when there are no rows. */
export function table(
  output: Output,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  if (rows.length === 0) return pasteable(none);
  const cells = rows.map((row) => row.map(printable));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => width(row[column] ?? ''))),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd();
  return [output.style('bold', line(heading.map((title) => title.toUpperCase()))), ...cells.map(line)].join('\n');
}

function width(text: string): number {
  return Array.from(text).length;
}

/** Names come from people, files and servers: what could move the cursor, colour the screen or turn text around is taken out. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '');
}

function ended(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!)]$/.test(text) ? text : `${text}.`;
}

/** npm 11 says `run` where npm 10 said `run-script`. */
const scriptCommands: ReadonlySet<string> = new Set(['start', 'run', 'run-script']);

/** The command as which this process was started. */
export function startedAs(script: string, env: NodeJS.ProcessEnv, cwd: string): string {
  const { npm_command: npm, npm_package_name: name } = env;
  if (npm === 'exec') return 'npx sightline';
  if (name === 'sightline' && npm !== undefined && scriptCommands.has(npm)) return 'npm run -s sightline --';
  // A link to the package's command, as npm makes it, is called by its name.
  if (basename(script) === 'sightline')
    return dirname(script).endsWith('node_modules/.bin') ? 'npx sightline' : 'sightline';
  return `node ${shellWord(relative(cwd, script))}`;
}

/** Words that name commands of `sightline`, for a terminal where it has no such name and npm runs it. */
export function pasteable(words: string, { script = process.argv[1] ?? '', env = process.env } = {}): string {
  const command = startedAs(script, env, process.cwd());
  return command.startsWith('np') ? words.replace(/(?<!npx |[\w-])sightline (?=[a-z])/g, `${command} `) : words;
}
