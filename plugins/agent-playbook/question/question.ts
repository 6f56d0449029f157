import type { Assignment } from '../../../src/contract/agent/index.ts';
import { type Asks, type Focus, goesOn, narrowed, type Question, readAsks } from './asks.ts';
import { followConversation } from './conversation.ts';

/** The newest of these decide; what was said long before is not meant any more. */
const messagesRead = 20;

export function readQuestion(assignment: Assignment): Question {
  const messages = assignment.messages
    .filter(({ role }) => role === 'user')
    .slice(-messagesRead)
    .map((message) => {
      const written = message.content.slice(0, 8_000);
      const prose = withoutPasted(written);
      return { message, written, prose, spoken: readLanguage(prose) };
    });
  const newestFirst = messages.toReversed();
  const [newest] = newestFirst;
  const latest = newest === undefined ? (assignment.incident?.title ?? wrong) : newest.spoken.text || wrong;
  const moved = newestFirst.findIndex(({ spoken }) => !goesOn(spoken.text));
  const read = messages.map(({ message, spoken }) => Object.assign({}, message, { content: spoken.text }));
  const isPasted = newest !== undefined && newest.prose !== newest.written;
  // An alert's title is no message, whatever it says.
  const asks: Asks = newest === undefined ? { kind: 'investigation' } : readAsks(latest, assignment);
  const texts = newestFirst.map(({ written }) => written);
  return {
    text: latest,
    texts,
    meant: moved < 0 ? texts : texts.slice(0, moved + 1),
    // What is pasted without a question is to be looked into.
    asks: isPasted && asks.kind === 'unknown' ? { kind: 'investigation' } : asks,
    isForeign: newest?.spoken.isForeign === true,
    isPasted,
    ...followConversation(read, assignment),
  };
}

const wrong = 'What is wrong?';

/** Begins with a time or a bracket, or has the level of a log line. */
const logLine =
  /^\s*(?:\[|\{"|\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2}\s+\d+ \d\d:|at \S+\()|\b(?:ERROR|WARN|INFO|DEBUG|FATAL)\b/;

/** What a person wrote, without the lines of a log or the stack trace that they put beside it. */
function withoutPasted(text: string): string {
  const lines = text.replaceAll(/```[^`]*(?:```|$)/g, '\n').split('\n');
  if (lines.length < 2) return text;
  const prose = lines
    .filter((line) => !logLine.test(line))
    .join('\n')
    .trim();
  return prose.length < text.trim().length ? prose : text;
}

/** Which of the known services are named in the newest of the meant messages that names any, else by the incident. */
export function readFocus(question: Question, known: readonly string[], incident: Assignment['incident']): Focus {
  for (const text of question.meant) {
    if (everyService.test(text)) return { services: [], only: false };
    const services = known.filter((service) => names(text, service));
    if (services.length > 0) return { services, only: /\b(?:only|just|solely)\b/i.test(withoutPasted(text)) };
  }
  return { services: known.filter((service) => incident?.services.includes(service) === true), only: false };
}

const everyService = /\b(?:all|every|any) (?:the )?services?\b|^\s*(?:and )?everything\b/i;

/** What `only …` or `and in …?` names, in the latest message, where it is none of the known services. */
export function unknownOnly({ text }: Question, known: readonly string[]): string | undefined {
  const named = narrowed(text);
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
export function names(text: string, service: string): boolean {
  if (service === '') return false;
  const name = service.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const word = new RegExp(`(?<![\\w.-])${name}(?![\\w-])`, 'i');
  const marked = new RegExp(`[\`'"]${name}[\`'"]|\\b${name}\\s+service\\b|\\bservice\\s+${name}\\b`, 'i');
  return service.length > 2 ? word.test(text) : marked.test(text);
}

/** Words by which a question in German, French or Spanish is read, by their English. */
const words: readonly (readonly [english: string, form: RegExp])[] = (
  [
    ['since when', /seit wann|depuis quand|desde cuándo|desde cuando/],
    [
      'when did it start',
      /wann (?:hat|fing|ging|begann)\b.*|quand (?:est-ce que )?(?:cela|ça) a .*|cuándo (?:empezó|comenzó)\b.*/,
    ],
    ['which version', /welche[rs]? (?:version|release)|quelle version|qué versión|que version/],
    [
      'what changed',
      /was (?:hat sich|wurde|ist) (?:.*)?(?:geändert|geaendert|anders|neu)|qu'est-ce qui a changé|qué (?:ha )?cambi(?:ado|ó)/,
    ],
    [
      'how many customers are affected',
      /wie ?viele (?:kunden|nutzer|benutzer|anwender)\b.*|combien (?:de|d') ?(?:clients|utilisateurs)\b.*|¿?cu[aá]ntos (?:clientes|usuarios)\b.*/,
    ],
    [
      'who is affected',
      /wer ist (?:alles )?betroffen|qui est (?:touché|affecté|concerné)|quién(?:es)? (?:está|están) afectad\w*/,
    ],
    [
      'what should i do',
      /was (?:soll|muss|kann) ich (?:jetzt )?tun|was (?:jetzt|nun)|que (?:dois-je|faut-il) faire|qué (?:debo|tengo que|hago)\b.*/,
    ],
    [
      'is it the database',
      /(?:ist|liegt) es (?:an )?(?:die|der) datenbank|est-ce la base de données|es la base de datos/,
    ],
    [
      'is it fixed',
      /(?:ist|ist es|ist das) (?:schon |wieder )?(?:behoben|gelöst|repariert)|est-ce (?:réparé|résolu)|está (?:arreglado|resuelto)/,
    ],
    [
      'is it still going on',
      /(?:ist|läuft) (?:es|das) (?:immer )?noch\b.*|immer noch|est-ce que (?:ça|cela) continue|sigue (?:pasando|fallando)/,
    ],
    [
      'compare with last week',
      /vergleich\w* (?:es )?mit (?:der )?(?:letzten|voriger|vorigen) woche|compare\w* avec la semaine dernière|compara\w* con la semana pasada/,
    ],
    ['slowest service', /langsamster? (?:dienst|service)|le service le plus lent|servicio más lento/],
    ['how many orders in the last hour', /wie ?viele bestellungen\b.*|combien de commandes\b.*|cuántos pedidos\b.*/],
    [
      'what is wrong right now',
      /was ist (?:gerade|jetzt|denn)? ?(?:kaputt|los|falsch)|qu'est-ce qui (?:ne va pas|est cassé)|qué (?:está|anda) (?:mal|roto)\b.*/,
    ],
    ['summary', /zusammenfassung|fasse? .*zusammen|résum\w*|resumen/],
    [
      'show me the logs',
      /zeig\w* (?:mir )?(?:die )?(?:logs|protokolle)|montre\w* .*(?:logs|journaux)|muestra\w* .*(?:logs|registros)/,
    ],
    ['show me the traces', /zeig\w* (?:mir )?(?:die )?traces|montre\w* .*traces|muestra\w* .*(?:traces|trazas)/],
    ['roll back', /(?:rolle?|mach\w*) .*zurück|reviens? .*version précédente|revierte\b.*/],
    ['hello', /^(?:hallo|guten (?:tag|morgen|abend)|servus|grüezi|bonjour|salut|hola|buen[oa]s \w+)\W*$/],
    ['thanks', /^(?:danke\w*|vielen dank|merci|gracias)\b.*/],
  ] as const
).map(([english, { source }]) => [english, new RegExp(`(?<![\\p{L}])(?:${source})`, 'iu')]);

/** Words of trouble, where no question was read as a whole. */
const trouble =
  /(?<!\p{L})(?:warum|wieso|weshalb|schl(?:ägt|agen) fehl|fehler\w*|fehlgeschlagen|langsam\w*|kaputt|ausfall|störung|geht nicht|pourquoi|échou\w*|erreurs?|lente?s?|panne|por qué|fall(?:a|an|o)|errores|lent[oa]s?|caíd[oa])(?!\p{L})/iu;

const foreignWords =
  /(?<!\p{L})(?:ist|sind|wird|wurde|nicht|welche[rs]?|wie|wann|wer|bitte|und|oder|mit|für|sont|quel(?:le)?s?|avec|pour|dans|les|des|une|est-ce|cuál|cómo|está|están|los|las|una|para|con)(?!\p{L})/giu;
const english = /\b(?:the|is|are|what|why|when|how|which|who|does|do|did|show|in|of|since|only)\b/gi;

interface Spoken {
  /** In English, as far as it was understood. */
  readonly text: string;
  readonly isForeign: boolean;
}

/** Reads what was written in another language: the questions that are asked most, and that something is wrong. */
function readLanguage(text: string): Spoken {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const known = words.find(([, form]) => form.test(text))?.[0];
  const foreign = text.match(foreignWords)?.length ?? 0;
  const marks = letters > latin * 2 || trouble.test(text) || known !== undefined ? 1 : 0;
  const isForeign = foreign + marks > (text.match(english)?.length ?? 0);
  if (!isForeign) return { text, isForeign };
  // What was not understood is looked into: a question is likelier than a greeting.
  return { text: known ?? (trouble.test(text) ? `why does it fail: ${text}` : text), isForeign };
}
