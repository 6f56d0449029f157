import { agent, throughBrowser } from './agent.ts';

export const claude = agent({
  name: 'claude',
  title: 'Claude Code',
  packages: ['@anthropic-ai/claude-code@2.1.332'],
  program: 'claude',
  ask: '-p "$QUESTION" --allowedTools mcp__sightline $SETTINGS',
  model: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  async configure(stage) {
    await stage.connect('claude', '--key', stage.place.key.client_id, '--write');
    // In a folder that no person has trusted yet, a project's file is read only when it is named.
    return 'export SETTINGS="--mcp-config .mcp.json --strict-mcp-config"';
  },
  async signIn(stage, run) {
    const add = await stage.connect('claude');
    const login = run(`${add}\nclaude mcp login sightline`, {
      terminal: true,
      until: /Authenticated|[Ss]uccessful|[Cc]onnected/,
    });
    await throughBrowser(stage, login);
  },
  limits: 'Shows its model the structured form',
});
