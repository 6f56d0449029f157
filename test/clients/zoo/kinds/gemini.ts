import { agent, throughBrowser } from './agent.ts';

export const gemini = agent({
  name: 'gemini',
  title: 'Gemini CLI',
  packages: ['@google/gemini-cli@0.61.0'],
  program: 'gemini',
  ask: '-y -m gemini-2.5-pro -p "$QUESTION"',
  model: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'scripted',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  prepare: (stage) => stage.write('~/.gemini/settings.json', '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'),
  async signIn(stage, run) {
    await stage.connect('gemini', '--write');
    const replies = [{ after: /continue\? \[Y\/n\]/, text: 'y\n' }];
    const login = run('gemini -y -m gemini-2.5-pro -p "/mcp auth sightline"', {
      terminal: true,
      replies,
      until: /[Ss]uccessfully (authenticated|authorized)|restarted|reconnected/i,
    });
    await throughBrowser(stage, login);
  },
  limits: 'Reads a project’s servers once its folder is trusted',
});
