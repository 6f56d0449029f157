import { answerOf, connect, fields, type Fields, openLink, text } from './bridge.ts';
import { chatView } from './chat.ts';
import { button, el, type Child } from './dom.ts';
import { incidentView } from './incident.ts';
import { queryView } from './query.ts';

const root = document.body;
let host: Fields = {};
let input: Fields = {};
let result: Fields | undefined;

function show(...children: readonly Child[]): void {
  root.replaceChildren(el('main', {}, children));
}

function draw(): void {
  if (result === undefined) return;
  const answer = answerOf(result);
  if (answer.structured === undefined) {
    return show(el('p', answer.failed ? { class: 'alert', role: 'alert' } : { class: 'said' }, answer.said));
  }
  try {
    show(drawn(answer.structured), pageButton(answer.structured));
  } catch {
    // What cannot be drawn can still be read.
    show(el('p', { class: 'said' }, answer.said));
  }
}

function drawn(structured: Fields): HTMLElement {
  const canCall = fields(host['hostCapabilities'])['serverTools'] !== undefined;
  if (structured['incident'] !== undefined) return incidentView(structured, canCall);
  if (structured['chat'] !== undefined) return chatView(structured, canCall);
  return queryView(structured, text(input['sql']) || text(input['query']), canCall);
}

/** The one link: to the page that the service itself names. */
function pageButton(structured: Fields): Child {
  const url = text(fields(structured['incident'] ?? structured['chat'])['url']);
  const opens = fields(host['hostCapabilities'])['openLinks'] !== undefined && /^https?:\/\//.test(url);
  return (
    opens &&
    el(
      'p',
      { class: 'actions' },
      button('Open its page', async () => void (await openLink(url))),
    )
  );
}

function settle(context: Fields): void {
  const { theme } = context;
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
}

// A host that writes its own policy into the file may end the head early; what is drawn replaces the body.
document.head.append(...document.querySelectorAll('style'));
show(el('p', { class: 'soft', role: 'status' }, 'Waiting for the result…'));

// A result may come before the host has said what it can.
void connect({
  'tool-input': (params) => (input = fields(params['arguments'])),
  'tool-result': (params) => {
    result = params;
    draw();
  },
  'tool-cancelled': () => show(el('p', { class: 'soft', role: 'status' }, 'The call was cancelled.')),
  'host-context-changed': settle,
}).then((welcome) => {
  host = welcome;
  settle(fields(welcome['hostContext']));
  draw();
});
