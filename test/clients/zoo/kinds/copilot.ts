import { agent, throughWindow } from './agent.ts';

export const copilot = agent({
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  packages: ['@github/copilot@1.0.102'],
  program: 'copilot',
  ask: '-p "$QUESTION" --allow-all-tools',
  model: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_MODEL: 'gpt-5',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  async signIn(stage, run) {
    await stage.connect('copilot', '--write');
    // It asks first whether its folder is trusted.
    await throughWindow(stage, run, 'copilot', [{ after: /remember this folder/, text: '\r' }]);
  },
  limits:
    'Shows its model both forms, 20 kB together; of more the first 500 characters, and a file. Gets `max_bytes: 9000` by default',
});
