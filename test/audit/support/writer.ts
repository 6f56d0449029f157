import { newId } from '../../../src/contract/core/index.ts';
import { testHost, testVault } from '../../contract/host.ts';
import { createAuditWriter } from '../../../src/records/audit/writer.ts';
import plugin from '../../../plugins/storage-knex/index.ts';
import { record, soon } from './store.ts';

/** A process that records until it is killed, and tells what stands behind it. */
const [directory = '', key = ''] = process.argv.slice(2);
const host = testHost(directory, { vault: testVault(Buffer.from(key, 'hex')) });
const storage = plugin.create(plugin.configSchema.parse({}), host);
await storage.start(soon());
const { id } = await storage.directory.createOrganization({ name: `of ${newId('org')}` });
const audit = createAuditWriter({ storage, logger: host.logger, flushMs: 1 });
process.stdout.write(`${id}\n`);
for (let number = 1; ; number += 1) {
  (await audit.reserve(id))(record(number));
  if (number % 50 === 0) {
    await storage.workspace(id).audit.append([record(number, { event: 'key.created' })]);
    process.stdout.write('acknowledged\n');
  }
}
