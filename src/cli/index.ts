import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { product } from '../gateway/wiring/product.ts';
import { exitCodes, Exit } from './exit.ts';
import { createOutput, type Output } from './output.ts';
import type { Register } from './command.ts';

interface Entry {
  readonly summary: string;
  /** Loaded when the command is called, so that `serve` does not wait for the others. */
  readonly load: () => Promise<{ readonly register: Register }>;
}

const entries: Readonly<Record<string, Entry>> = {
  serve: { summary: 'run the gateway', load: () => import('./serve.ts') },
  export: { summary: 'export the workspace to a file, as a backup or for a move', load: () => import('./export.ts') },
  import: { summary: 'import an exported workspace into an empty storage', load: () => import('./import.ts') },
  migrate: { summary: 'migrate the storage to this version', load: () => import('./migrate.ts') },
  org: { summary: 'create and list organizations', load: () => import('./org.ts') },
  user: { summary: 'create, invite, disable and list people', load: () => import('./user.ts') },
  key: { summary: 'create, list, rotate, retire and revoke API keys', load: () => import('./key.ts') },
  'admin-key': {
    summary: 'create, list and revoke keys of the admin interface',
    load: () => import('./admin-key.ts'),
  },
  scim: { summary: 'create, list and revoke SCIM tokens of identity providers', load: () => import('./scim.ts') },
  connect: { summary: 'configure an MCP client: print what it needs, or write it', load: () => import('./connect.ts') },
  'alert-source': { summary: 'add, list, rotate and remove alert sources', load: () => import('./alert-source.ts') },
  ingest: { summary: 'show and rotate ingest tokens, send OTLP files', load: () => import('./ingest.ts') },
  telemetry: { summary: 'inspect and set up the warehouse behind query_otel', load: () => import('./telemetry.ts') },
  incident: { summary: 'list, show, create, change and resolve incidents', load: () => import('./incident.ts') },
  audit: { summary: 'verify and export the audit', load: () => import('./audit.ts') },
  webhook: { summary: 'notify other systems of changes', load: () => import('./webhook.ts') },
  doctor: {
    summary: 'check configuration, storage, warehouse and the running gateway',
    load: () => import('./doctor.ts'),
  },
  config: { summary: 'check the configuration, print its schema', load: () => import('./config.ts') },
  eval: { summary: 'measure how often the agent finds the cause', load: () => import('./eval.ts') },
  demo: { summary: 'send the telemetry of a demo shop with a fault in it', load: () => import('./demo.ts') },
};

/** The command line; of the commands that are not loaded it has name and summary alone. */
export async function createProgram(output: Output, isLoaded: (name: string) => boolean): Promise<Command> {
  const program = new Command('sightline')
    .description('Workspace MCP service: telemetry, incidents and chats through one MCP endpoint.')
    .option('--data <dir>', 'data directory (SIGHTLINE_DATA; default .sightline)', nonEmpty)
    .option('--port <n>', 'port to listen on (SIGHTLINE_PORT; default 8080)', port)
    .option('--config <file>', 'config file (SIGHTLINE_CONFIG)', nonEmpty)
    .option('--json', 'print JSON, for scripts')
    .version(product.version, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined })
    .exitOverride()
    .addHelpText('after', `\nExit codes:\n${exitCodes.map(([code, text]) => `  ${code}  ${text}`).join('\n')}`);
  for (const [name, { summary, load }] of Object.entries(entries)) {
    if (isLoaded(name)) (await load()).register(program, output, summary);
    else
      program
        .command(name)
        .description(summary)
        .action(() => undefined);
  }
  return program;
}

/** Runs one command line to its end and answers the exit code; never throws. */
export async function run(argv: readonly string[]): Promise<number> {
  // Known before parsing, since a usage error has to be reported in the form asked for, too.
  const output = createOutput({ json: argv.includes('--json') });
  const called = calledCommand(argv);
  const program = await createProgram(output, (name) => name === called);
  let failing: Command = program;
  visit(program, (command) => {
    command.configureOutput({
      writeErr: () => undefined,
      outputError: () => {
        failing = command;
      },
    });
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    if (!(error instanceof CommanderError)) return output.failure(error);
    if (error.exitCode === 0) return 0;
    if (error.code !== 'commander.help') return output.usage(sentence(error.message), usageOf(failing));
    // A group such as `sightline key` without one of its commands.
    const group = program.commands.find((command) => command.name() === called) ?? program;
    return output.usage('Name a command.', usageOf(group), group.helpInformation());
  }
}

function visit(command: Command, each: (command: Command) => void): void {
  each(command);
  for (const child of command.commands) visit(child, each);
}

const valued = new Set(['--data', '--port', '--config']);

/** The first word that is neither an option nor the value of one of the global options. */
function calledCommand(argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (valued.has(word)) index += 1;
    else if (!word.startsWith('-')) return word === 'help' ? argv[index + 1] : word;
  }
  return undefined;
}

function usageOf(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name());
  return `${names.join(' ')} ${command.usage()}`;
}

/** commander says `error: unknown option '--nmae'\n(Did you mean --name?)`. */
function sentence(message: string): string {
  return message.replace(/^error: /, '').replaceAll('\n', ' ');
}

function nonEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty.');
  return value;
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d{1,5}$/.test(value) || number > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return number;
}
