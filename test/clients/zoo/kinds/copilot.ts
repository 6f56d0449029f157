import { agent } from './agent.ts';

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
    const allowed = stage.allowInBrowser();
    // It asks first whether its folder is trusted. Its own window has no end that could be waited for.
    const replies = [{ after: /remember this folder/, text: '\r' }];
    const later = allowed.then(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
    await Promise.all([allowed, run('command copilot', { terminal: true, replies, until: later })]);
  },
  limits:
    'Shows its model both forms, 20 kB together; of more the first 500 characters, and a file. `max_bytes: 9000` fits',
});
