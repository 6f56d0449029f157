import * as runner from '@jest/globals';
import { isolationContract, legitimateContract } from '../../test/contract/isolation.ts';
import { lifecycleContract } from '../../test/contract/lifecycle.ts';
import { telemetryContract } from '../../test/contract/telemetry.ts';
import { BigqueryServer } from '../../test/support/bigquery/server.ts';
import { attacks } from './support/attacks.ts';
import { Harness } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';
import { onProject } from './support/project.ts';

let server: BigqueryServer;

// Before each count of what runs, so that the stand-in is none of the plugin's.
runner.beforeAll(async () => {
  server = await BigqueryServer.start({ closes: true });
});
runner.afterAll(() => server.stop());

lifecycleContract(runner, async () => {
  const harness = await Harness.create({}, server);
  return { component: harness.telemetry, cleanup: () => harness.stop() };
});

const projectId = process.env['BIGQUERY_PROJECT'];
if (projectId === undefined) {
  process.stderr.write('not run: what asks a BigQuery project (BIGQUERY_PROJECT)\n');
} else {
  const make = () => onProject(projectId);
  runner.jest.setTimeout(300_000);
  telemetryContract(runner, make);
  isolationContract(runner, make, { statements: () => attacks });
  legitimateContract(runner, make, legitimate);
}
