import { agent, throughWindow } from './agent.ts';

export const cline = agent({
  name: 'cline',
  title: 'Cline',
  packages: ['cline@3.0.65'],
  program: 'cline',
  ask: '--auto-approve true "$QUESTION"',
  model: () => ({}),
  async prepare(stage) {
    await stage.shell(`cline auth -p openai -k scripted -m scripted -b ${stage.place.model.url}/v1`);
  },
  async signIn(stage, run) {
    await stage.shell(await stage.connect('cline'));
    const down = '\u001b[B';
    await throughWindow(stage, run, 'cline mcp', [
      { after: /Authorize OAuth/, text: `${down.repeat(4)}\r` },
      { after: /Select remote server/, text: '\r' },
    ]);
  },
  limits:
    'Shows its model both forms, cut at 8,000 characters together. Gets `max_bytes: 3500` by default. Reads no variables, so that a key’s token stands in its settings',
});
