import { ask, fields, type Fields, list, text } from './bridge.ts';
import { button, el, prose } from './dom.ts';

const longestWait = 20;

/** The result of `read_chat`; while the agent works, a click waits for its answer and says for how long. */
export function chatView(first: Fields, canCall: boolean): HTMLElement {
  const root = el('article', {});
  const messages = new Map<string, Fields>();
  let last = first;

  function take(found: Fields): void {
    last = found;
    for (const message of list(found['messages']).map(fields)) messages.set(text(message['id']), message);
    draw();
  }

  async function read(seconds: number): Promise<void> {
    const wanted = { chat_id: text(fields(last['chat'])['id']), wait_seconds: seconds };
    const after = [...messages.keys()].at(-1);
    take(await ask('read_chat', after === undefined ? wanted : { ...wanted, after_message_id: after }));
  }

  function draw(): void {
    const chat = fields(last['chat']);
    const status = text(chat['status']);
    const wait = el('progress', { max: String(longestWait), 'aria-label': 'Waiting for the answer' });
    wait.hidden = true;
    const waits = button('Wait for the answer', async () => {
      const begun = performance.now();
      wait.hidden = false;
      const tick = setInterval(() => (wait.value = (performance.now() - begun) / 1_000), 250);
      try {
        await read(longestWait);
      } finally {
        clearInterval(tick);
        wait.hidden = true;
      }
    });
    const isCut = text(last['next_cursor']) !== '';
    root.replaceChildren(
      el('h1', { dir: 'auto' }, text(chat['title'])),
      el('p', { role: 'status' }, el('span', { class: 'tag' }, statusWords[status] ?? status)),
      ...[...messages.values()].map(messageView),
      el(
        'p',
        { class: 'actions' },
        canCall && isCut && button('Read on', () => read(0)),
        canCall && !isCut && status === 'running' && [waits, wait],
      ),
    );
  }

  take(first);
  return root;
}

const statusWords: Readonly<Record<string, string>> = {
  running: 'The agent is at work',
  waiting: 'The agent waits for an answer',
  completed: 'Answered',
  failed: 'It failed',
  cancelled: 'Cancelled',
};

function messageView(message: Fields): HTMLElement {
  const author = text(fields(message['author'])['name']) || text(message['role']);
  const at = text(message['time']).slice(0, 16).replace('T', ' ');
  return el(
    'section',
    { class: 'card' },
    el('p', { class: 'soft' }, `${author}${at === '' ? '' : ` · ${at} UTC`}`),
    prose(text(message['content'])),
  );
}
