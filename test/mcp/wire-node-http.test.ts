import { reading } from '../support/mcp-server.ts';

reading.byNodeHttpAlone = true;
await import('./wire.test.ts');
