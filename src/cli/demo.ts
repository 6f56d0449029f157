import { Option } from 'commander';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import {
  demoIncident,
  demoQuestion,
  groundTruth,
  isScenario,
  scenarios,
  sendDemo,
  type DemoOptions,
} from '../lab/demo/index.ts';
import {
  actInOrganization,
  operator,
  orgOption,
  refuseCollector,
  requireGateway,
  wholeNumber,
  type Register,
} from './command.ts';

const names = Object.keys(scenarios);
const shape = z.object({ scenario: z.string(), seed: z.number(), minutes: z.number(), org: z.string().optional() });

export const register: Register = (program, output, summary) => {
  const described = Object.entries(scenarios).map(([name, { description }]) => `  ${name.padEnd(16)} ${description}`);
  const command = program
    .command('demo')
    .description(`${summary}, up to now, and open its incident; a gateway must run`)
    .addOption(new Option('--scenario <name>', 'which fault').choices(names).default('payment-errors'))
    .option('--seed <n>', 'the same seed makes the same shop', wholeNumber, 1)
    .option('--minutes <m>', 'how much telemetry, 5 to 10080', wholeNumber, 60)
    .option(...orgOption)
    .addHelpText('after', `\nScenarios:\n${described.join('\n')}`);
  actInOrganization(command, output, shape, async ({ workspace, organization, options, settings }) => {
    const { scenario, seed, minutes } = options;
    if (!isScenario(scenario)) throw new SightlineError('invalid_argument', `There is no scenario ${scenario}.`);
    refuseCollector(workspace);
    const demo: DemoOptions = { scenario, seed, minutes, end: new Date() };
    const truth = groundTruth(demo);
    const endpoint = await requireGateway(workspace, settings);
    const token = await workspace.ingestTokens.ensure(organization.id);
    const onProgress = (progress: number): void => output.progress(progress, 'sending');
    const { figures, ...sent } = await sendDemo(demo, { endpoint, token, onProgress });
    const incidents = workspace.storage.workspace(organization.id).incidents;
    const { key } = await incidents.create(demoIncident(demo, figures), operator());
    const question = demoQuestion(demo);
    const result = {
      scenario,
      organization: organization.name,
      ...sent,
      incident: key,
      question,
      truth: { ...truth, service: truth.service ?? null, onset: truth.onset.toISOString() },
    };
    output.result(result, () =>
      [
        `Sent ${sent.spans} spans, ${sent.points} data points and ${sent.logs} logs to ${organization.name}.`,
        `Opened ${key}. Ask: ${question}`,
        `What is wrong, since ${truth.onset.toISOString()}: ${truth.description}`,
      ].join('\n'),
    );
  });
};
