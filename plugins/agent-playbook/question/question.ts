import type { Assignment, ChatMessage } from '../../../src/contract/index.ts';
import { readComparison, readTimeRange } from './time-range.ts';
import type { TimeRange } from './time-range.ts';

/** What is asked, read from what people wrote in the chat; a later message changes what an earlier one said. */
export interface Question {
  /** The latest message of a person, or the incident's title. */
  readonly text: string;
  readonly range?: TimeRange;
  /** `… since 14:00`: the person says when it began. */
  readonly beganAt?: Date;
  /** `compare with 13:00 to 13:30`: what is usual. */
  readonly references: readonly TimeRange[];
  /** `show me the traces`: examples are wanted and not a new verdict. */
  readonly wants: 'cause' | 'traces';
  /** Messages of people, newest first: service names are looked for in them once it is known which there are. */
  readonly texts: readonly string[];
}

/** The newest of these decide; what was said long before is not meant any more. */
const messagesRead = 20;

export function readQuestion(assignment: Assignment): Question {
  const texts = assignment.messages
    .filter(isFromPerson)
    .map(({ content }) => content.slice(0, 8_000))
    .toReversed()
    .slice(0, messagesRead);
  const [latest = assignment.incident?.title ?? 'What is wrong?'] = texts;
  const { askedAt } = assignment;
  const read = texts.map((text) => readComparison(text, askedAt));
  const named = read.map(({ rest }) => ({ range: readTimeRange(rest, askedAt), exact: /\bsince\s+\d/i.test(rest) }));
  const { range, exact = false } = named.find((one) => one.range !== undefined) ?? {};
  return {
    text: latest,
    texts,
    wants: /\b(?:show|list|give|see|which|find)\b[^.?!]{0,40}\btraces?\b/i.test(latest) ? 'traces' : 'cause',
    references: read.find(({ references }) => references.length > 0)?.references ?? [],
    ...(range && { range }),
    ...(range && exact && { beganAt: range.start }),
  };
}

function isFromPerson(message: ChatMessage): boolean {
  return message.role === 'user';
}

/** The services that the question is about. */
export interface Focus {
  readonly services: readonly string[];
  /** `only payment`: nothing else is looked at. */
  readonly only: boolean;
}

/** Which of the known services are named, in the newest message that names any, else by the incident. */
export function readFocus(question: Question, known: readonly string[], incident: Assignment['incident']): Focus {
  for (const text of question.texts) {
    const services = known.filter((service) => names(text, service));
    if (services.length > 0) return { services, only: /\b(?:only|just|solely)\b/i.test(text) };
  }
  return { services: known.filter((service) => incident?.services.includes(service) === true), only: false };
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
