import { agent, throughBrowser } from './agent.ts';

export const opencode = agent({
  name: 'opencode',
  title: 'opencode',
  packages: ['opencode-ai@1.18.33'],
  program: 'opencode',
  ask: 'run --auto -m zoo/scripted "$QUESTION"',
  model: () => ({}),
  prepare: (stage) =>
    stage.write(
      '~/.config/opencode/opencode.json',
      JSON.stringify({
        provider: {
          zoo: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${stage.place.model.url}/v1`, apiKey: 'scripted' },
            models: { scripted: {} },
          },
        },
      }),
    ),
  async signIn(stage, run) {
    await stage.connect('opencode', '--write');
    await throughBrowser(stage, run('opencode mcp auth sightline', { terminal: true }));
  },
  limits: 'Shows its model the text form',
});
