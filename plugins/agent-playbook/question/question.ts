import type { Assignment } from '../../../src/contract/agent/index.ts';
import { type Focus, type Question, readAsks } from './asks.ts';
import { followConversation } from './conversation.ts';

/** The newest of these decide; what was said long before is not meant any more. */
const messagesRead = 20;

export function readQuestion(assignment: Assignment): Question {
  const messages = assignment.messages
    .filter(({ role }) => role === 'user')
    .slice(-messagesRead)
    .map((message) => Object.assign({}, message, { content: message.content.slice(0, 8_000) }));
  const texts = messages.map(({ content }) => content).toReversed();
  const [latest = assignment.incident?.title ?? 'What is wrong?'] = texts;
  return { text: latest, texts, asks: readAsks(latest, assignment), ...followConversation(messages, assignment) };
}

/** Which of the known services are named, in the newest message that names any, else by the incident. */
export function readFocus(question: Question, known: readonly string[], incident: Assignment['incident']): Focus {
  for (const text of question.texts) {
    if (everyService.test(text)) return { services: [], only: false };
    const services = known.filter((service) => names(text, service));
    if (services.length > 0) return { services, only: /\b(?:only|just|solely)\b/i.test(text) };
  }
  return { services: known.filter((service) => incident?.services.includes(service) === true), only: false };
}

const everyService = /\b(?:all|every|any) (?:the )?services?\b|^\s*(?:and )?everything\b/i;

/** What `only …` names, in the latest message, where it is none of the known services. */
export function unknownOnly({ text }: Question, known: readonly string[]): string | undefined {
  const named = /\b(?:only|just|solely)\s+[`'"]?([\w./-]*\w)/i.exec(text)?.[1];
  if (named === undefined || common.has(named.toLowerCase())) return undefined;
  return known.some((service) => names(text, service)) ? undefined : named;
}

/** Words of questions that are hardly the name of a service. */
const common = new Set(
  (
    'about after all and any anything are but can cause caused check did does error errors fail failed failing fails few ' +
    'find for from has have help hour hours how into investigate last latency look many minute minutes not now only other ' +
    'our out over past please problem request requests says see service services show since slow slower some than that the ' +
    'their them then there these they this today traces users was went were what when where which who why with wrong yesterday you'
  ).split(' '),
);

/** Words of the question that could be service names, so that the first look at the services does not miss them. */
export function candidateNames(question: Question, incident: Assignment['incident']): readonly string[] {
  const words = question.texts.flatMap((text) => text.toLowerCase().match(/[a-z0-9][a-z0-9._/-]{2,60}/g) ?? []);
  const named = words.map((word) => word.replace(/[._/-]+$/, '')).filter((word) => !common.has(word));
  return [...new Set([...(incident?.services ?? []).map((name) => name.toLowerCase()), ...named])].slice(0, 40);
}

/** As a whole word; a name of one or two letters only when it is quoted or called a service. */
function names(text: string, service: string): boolean {
  if (service === '') return false;
  const name = service.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const word = new RegExp(`(?<![\\w.-])${name}(?![\\w-])`, 'i');
  const marked = new RegExp(`[\`'"]${name}[\`'"]|\\b${name}\\s+service\\b|\\bservice\\s+${name}\\b`, 'i');
  return service.length > 2 ? word.test(text) : marked.test(text);
}
