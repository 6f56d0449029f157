import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../../support/listen.ts';
import { anthropic } from './anthropic.ts';
import { completions } from './completions.ts';
import { sendJson, type Format, type Said, type Told } from './format.ts';
import { gemini } from './gemini.ts';
import { responses } from './responses.ts';

const formats: readonly Format[] = [anthropic, completions, responses, gemini];

/** One request of a client to its model. */
export interface Heard {
  readonly path: string;
  readonly body: unknown;
  readonly told: Told;
}

/** A stand-in for every model API: it answers what the script says, and remembers what it was told. */
export interface Model {
  readonly url: string;
  /** Since the last `say`. */
  readonly heard: readonly Heard[];
  say(script: (told: Told) => Said): void;
  stop(): Promise<void>;
}

export async function startModel(): Promise<Model> {
  let heard: Heard[] = [];
  let script: (told: Told) => Said = () => ({ text: 'Nothing to do.' });
  let answers = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => sendJson(response, { error: String(error) }, 400));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const format = formats.find((each) => each.path.test(path));
    if (format === undefined) return sendJson(response, other(path));
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const told = format.read(body, path);
    heard.push({ path, body, told });
    answers += 1;
    format.write(response, script(told), { id: String(answers), stream: told.stream });
  }

  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get heard() {
      return heard;
    },
    say(next) {
      script = next;
      heard = [];
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What clients ask beside: which models there are, and how much a text costs. */
function other(path: string): object {
  if (path.endsWith('models')) return { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'zoo' }] };
  return { input_tokens: 10, totalTokens: 10 };
}
