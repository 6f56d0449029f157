import { agent } from './agent.ts';

export const continueCli = agent({
  name: 'continue',
  title: 'Continue',
  packages: ['@continuedev/cli@1.5.47'],
  program: 'cn',
  ask: '--config config.yaml --auto -p "$QUESTION"',
  model: () => ({}),
  async configure(stage) {
    const { url, model, token } = stage.place;
    await stage.write(
      'config.yaml',
      `name: zoo
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: ${model.url}/v1
    apiKey: scripted
    capabilities: [tool_use]
mcpServers:
  - name: sightline
    type: streamable-http
    url: ${url}
    requestOptions:
      headers:
        Authorization: Bearer ${await token()}
`,
    );
    return ':';
  },
  signIn: 'it has none for MCP servers',
  limits: 'Takes a token in its configuration alone',
});
