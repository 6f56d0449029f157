import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientKinds, expectedVersion, listAndCallAll } from '../support/clients.ts';
import { conformanceTools, echoTool, writeTool } from '../support/fixture-tools.ts';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';

const tools = [echoTool, writeTool, ...conformanceTools];

describe('official clients', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startMcpServer({ tools });
  });
  afterAll(() => server.stop());

  it.each(clientKinds)('%s lists the tools in their order and calls them', async (kind) => {
    const token = await server.mint();
    const run = await listAndCallAll(kind, {
      url: server.url,
      token,
      calls: [
        { name: 'echo', arguments: { text: 'grüße "quoted"', times: 2 } },
        { name: 'test_tool_with_progress', arguments: {} },
        { name: 'test_custom_header', arguments: { region: 'süd', priority: 7 } },
        { name: 'test_error_handling', arguments: {} },
      ],
    });
    expect(run.protocolVersion).toBe(expectedVersion(kind));
    expect(run.tools).toEqual(tools.map(({ name }) => name));
    const [echo, progress, header, failed] = run.outcomes;
    expect(echo).toEqual({
      name: 'echo',
      isError: false,
      structured: { text: 'grüße "quoted"', times: 2 },
      text: 'grüße "quoted"grüße "quoted"',
    });
    expect(progress).toMatchObject({ isError: false, text: 'done' });
    expect(header).toMatchObject({ isError: false, structured: { region: 'süd' } });
    expect(failed).toMatchObject({ isError: true, structured: undefined });
    expect(JSON.parse(failed?.text ?? '')).toMatchObject({
      code: 'invalid_argument',
      message: 'This tool intentionally returns an error for testing',
    });
  });
});
