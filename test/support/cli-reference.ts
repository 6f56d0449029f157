import type { Command } from 'commander';
import { exitCodes } from '../../src/cli/exit.ts';
import { createProgram } from '../../src/cli/index.ts';
import { createOutput } from '../../src/cli/output.ts';

/* docs/cli.md: `npm run docs:cli` writes it, and a test compares. */

export async function writeCliReference(): Promise<string> {
  const program = await createProgram(createOutput({ json: false }), () => true);
  return [
    '# Command-line reference',
    '',
    'Every command and option, written by `npm run docs:cli` from the definitions that parse them. In a checkout, first',
    "run `alias sightline='npm run -s sightline --'`. `sightline help COMMAND` says the same on a terminal.",
    '',
    '## Options of every command',
    '',
    ...options(program),
    '',
    '## Exit codes',
    '',
    ...exitCodes.map(([code, meaning]) => `- \`${code}\`: ${meaning}`),
    '',
    ...program.commands.flatMap(section),
  ].join('\n');
}

function section(command: Command): readonly string[] {
  const said = command.commands.length === 0 ? entry(command) : [sentence(command), '', ...below(command)];
  return [`## ${command.name()}`, '', ...said];
}

function below(group: Command): readonly string[] {
  return group.commands.flatMap((command) => (command.commands.length === 0 ? entry(command) : below(command)));
}

function entry(command: Command): readonly string[] {
  const names: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name());
  const listed = options(command);
  return [
    ...(names.length > 2 ? [`### ${names.join(' ')}`, ''] : []),
    sentence(command),
    '',
    '```text',
    [...names, command.usage()].join(' '),
    '```',
    '',
    ...(listed.length === 0 ? [] : [...listed, '']),
  ];
}

function options(command: Command): readonly string[] {
  const help = command.createHelp();
  return command.options.map((option) => `- \`${option.flags}\`: ${oneLine(help.optionDescription(option))}`);
}

function sentence(command: Command): string {
  const text = oneLine(command.description());
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

if (import.meta.main) process.stdout.write(`${(await writeCliReference()).trimEnd()}\n`);
