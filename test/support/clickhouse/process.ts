import { parseArgs } from 'node:util';
import { Front } from './front.ts';

// A process of its own: the engine keeps one data directory a process, and a test must be able to kill it.
const { values } = parseArgs({
  options: {
    directory: { type: 'string' },
    config: { type: 'string' },
    changeable: { type: 'string', multiple: true },
    readonly: { type: 'boolean', default: false },
    plain: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
  },
});
const front = new Front({
  directory: values.directory ?? '',
  configFile: values.config,
  changeable: values.readonly ? (values.changeable ?? []) : undefined,
  exceptions: values.plain ? 'plain' : 'tagged',
});
front.server.listen(Number(values.port), '127.0.0.1', () => {
  const address = front.server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => process.exit());
