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

/** The only service that has the word as a part of its name, in the singular or plural: `the worker` is `mail-worker`. */
export function partOf(word: string, known: readonly string[]): string | undefined {
  const singular = (part: string): string => part.toLowerCase().replace(/s$/, '');
  const found = known.filter((name) => name.split(/[._/-]/).some((part) => singular(part) === singular(word)));
  return found.length === 1 ? found[0] : undefined;
}

const within = String.raw`.{0,80}`;
const hit = 'betroffen|touchée?s?|affectée?s?|concernée?s?|impactée?s?|afectad[oa]s?|afectan?';
const who = '(customers|users|countries|regions|services)';
const verb = String.raw`(?:zeig|gib|such|nenn|montre|donne|affiche|mu[eé]stra|enseña|dame)\p{L}*${within}`;

const failed = String.raw`(?:fehler\p{L}+|fehlgeschlagenen?|fallidas?|con error(?:es)?)`;

const whole = (forms: readonly (readonly [english: string, form: string | RegExp])[]) =>
  forms.map(([english, form]) => {
    const source = typeof form === 'string' ? form : form.source;
    return [english, new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${source})(?![\\p{L}\\p{N}_])`, 'giu')] as const;
  });

/** Times, comparisons and nouns in German, French or Spanish, by their English; the longer first. */
const phrases = whole([
  [
    'compare with',
    /(?:vergleich\p{L}*|im vergleich)(?: es| das)? (?:mit|zu)|compar(?:e|é|er|ez)(?: ça| cela)? (?:avec|à)|compar(?:a|ado|ar)(?:lo)? con/u,
  ],
  ['last week', /(?:der )?(?:letzten?|vorigen?) woche|la semaine (?:dernière|passée)|la semana pasada/],
  ['last hour', /(?:der )?letzten? stunde|la dernière heure|la última hora/],
  ['the hour before', /die stunde (?:davor|vorher)|l'heure d'avant|la hora anterior/],
  [
    'last $1 min',
    /(?:den |der )?letzten (\d+) min\p{L}*|[ld]es (\d+) dernières min\p{L}*|los últimos (\d+) min\p{L}*/u,
  ],
  ['last $1 hours', /(?:den |der )?letzten (\d+) stunden|[ld]es (\d+) dernières heures|las últimas (\d+) horas/],
  ['$1 min ago', /vor (\d+) min\p{L}*|il y a (\d+) min\p{L}*|hace (\d+) min\p{L}*/u],
  ['$1 hours ago', /vor (\d+) stunden?|il y a (\d+) heures?|hace (\d+) horas?/],
  ['since $1', /seit (\d\d?:\d\d)(?: uhr)?|depuis (\d\d?:\d\d)|desde las (\d\d?:\d\d)/],
  ['since $1:00', /seit (\d\d?) uhr|depuis (\d\d?) ?h(?:eures)?|desde las (\d\d?)/],
  ['and yesterday', /(?:und|was ist mit) gestern|et hier|qu'en est-il d'hier|y ayer|qué (?:hay|pasa) con ayer/],
  // "Hier" alone is German for "here".
  ['yesterday', /gestern|ayer|(?<=(?:with|depuis) )hier|d'hier/],
  ['today', /heute|aujourd'hui|hoy/],
  ['and now', /und jetzt|et maintenant|y ahora/],
  ['only', /nur|bloß|seulement|uniquement|s[oó]lo|solamente/],
  ['all services', /alle (?:dienste|services)|tous les services|todos los servicios/],
  ['customers', /kunden?|clients?|clientes?/],
  ['users', /(?:be)?nutzern?|anwendern?|utilisateurs|usuarios/],
  ['countries', /ländern?|pays|países/],
  ['regions', /regionen|régions|regiones/],
  ['services', /diensten?|servicios/],
  ['database', /datenbank|base de données|base de datos/],
  ['network', /netz(?:werk)?|réseau|(?<=la )red/],
]);

/** English words among those: alone they do not tell the language. */
const homographs = /^(?:clients?|pays)$/i;

/** Of those, what says when; it holds for whatever is asked. */
const timed = /^(?:last|since|yesterday|today|\d)/;

/** Questions, in which the phrases were put into English, by their English; the first that is found is what is asked. */
const questions = whole([
  ['why?', /^\P{L}*(?:warum|wieso|weshalb|pourquoi|por qué)(?: das| ça| eso)?\P{L}*$/u],
  ['are you sure', /^\P{L}*(?:bist du (?:\p{L}+ )?sicher|(?:tu es|es-tu) s[uû]re?|est[aá]s segur[oa])/u],
  ['help', /^\P{L}*(?:hilfe|aide(?:-moi)?|ayuda)\P{L}*$|was kannst du|que (?:peux|sais)-tu|qué puedes/u],
  ['hello', /^(?:hallo|guten (?:tag|morgen|abend)|servus|grüezi|bonjour|salut|hola|buen[oa]s \p{L}+)\P{L}*$/u],
  ['thanks', /^(?:danke\p{L}*|vielen dank|merci|gracias)/u],
  ['roll back', /(?:rolle?|mach\p{L}*) .{0,80}(?:zurück|rückgängig)|reviens? .{0,80}version précédente|revierte/u],
  ['show me the logs', `${verb}(?:logs?|protokolle?|journaux|registros?)|${verb}-logs`],
  ['show me a failed trace', `${verb}(?:einen ${failed} trace|une trace en (?:échec|erreur)|una traza ${failed})`],
  ['show me a slow trace', `${verb}(?:einen langsamen trace|une trace lente|una traza lenta)`],
  ['show me a trace', `${verb}(?:einen trace|une trace|una traza)`],
  ['show me the failed traces', `${verb}(?:${failed} traces|traces en (?:échec|erreur)|trazas ${failed})`],
  ['show me the traces', `${verb}tra(?:ces?|zas?)`],
  ['show me the sql', `${verb}(?:sql|abfragen?|requêtes?|consultas?)`],
  ['what did you not check', /nicht (?:über)?geprüft|n'as pas (?:vérifié|regardé)|no has (?:comprobado|revisado)/],
  ['since when', /seit wann|depuis quand|desde cu[áa]ndo/],
  [
    'when did it start',
    /wann (?:hat|fing|ging|begann)|quand .{0,80}commencé|à quelle heure|a qué hora|cuándo (?:empezó|comenzó)/,
  ],
  ['which version', /welche[rs]? (?:version|release)|quelle version|qu[ée] versi[óo]n/],
  [
    'what changed',
    /was (?:hat sich|wurde|war|ist) .{0,80}(?:ge|ver)ändert|was (?:war|ist|wurde) .{0,80}(?:anders|neu|ausgerollt)|gab es .{0,80}(?:deployments?|releases?|änderung\p{L}*)|qu'est-ce qui (?:a|avait) changé|quels? changements?|qué (?:ha )?cambi(?:ado|ó)|qué cambios|hubo .{0,80}(?:cambios?|despliegues?)/u,
  ],
  ['how many $1 are affected', `(?:wie ?viele|combien (?:de|d')|cu[aá]nt[oa]s) ?${who}`],
  ['which $1 are affected', `${who}${within} (?:${hit})|(?:${hit}) ${within}${who}`],
  ['who is affected', hit],
  [
    'what should i do',
    /was (?:soll|muss|kann)(?:en)? (?:ich|wir)|was (?:jetzt|nun)|que (?:dois-je|faut-il|puis-je)|qué (?:debo|tengo que|hago|puedo)/,
  ],
  [
    'is it fixed',
    /behoben|gelöst|repariert|vorbei|(?:répar|régl|corrig)ée?|résolue?|(?:arreglad|resuelt|solucionad)[oa]/,
  ],
  [
    'is it still going on',
    /immer noch|noch immer|(?:ist|läuft) (?:es|das) noch|(?:ça|cela) continue|sigue (?:pasando|fallando)|todavía/,
  ],
  ['is there a memory leak', /gibt es .{0,40}(?:memory[ -]?leak|speicherleck)|fuite (?:de )?mémoire|fuga de memoria/],
  ['slowest service', /langsamster? (?:dienst|service)|le service le plus lent|servicio más lento/],
  ['most errors', /meisten fehler|plus d'erreurs|más errores/],
  ['how many orders in the last hour', /wie ?viele bestellungen|combien de commandes|cuántos pedidos/],
  [
    'what is wrong right now',
    /was ist (?:gerade|jetzt|denn)? ?(?:kaputt|los|falsch)|qu'est-ce qui (?:ne va pas|est cassé)|qué (?:está|anda) (?:mal|roto)/,
  ],
  ['summary', /zusammenfassung|fasse? .{0,80}zusammen|résum\p{L}*|resumen/u],
  [
    'is $1 ok',
    /ist ([\w./-]+) (?:jetzt |wieder )?(?:ok|okay|in ordnung|gesund)|que ([\w./-]+) va bien|está bien ([\w./-]+)/,
  ],
  [
    'is it the $1',
    /(?:liegt|lag) es (?:am|an) (?:de[rmn] )?([\w./-]+)|ist es (?:die|der|das) ([\w./-]+)|(?:c'est|est-ce) (?:la |le |l')([\w./-]+)|^\P{L}*es (?:la|el) ([\w./-]+)/u,
  ],
]);

/** Words of trouble, where no question was read as a whole. */
const trouble =
  /(?<!\p{L})(?:warum|wieso|weshalb|schl(?:ägt|agen) fehl|fehler\p{L}*|fehlgeschlagen|langsam\p{L}*|kaputt|ausfall|störung|geht nicht|pourquoi|échou\p{L}*|erreurs?|lente?s?|panne|por qué|fall(?:a|an|o)|errores|lent[oa]s?|caíd[oa])(?!\p{L})/iu;

const foreignWords =
  /(?<!\p{L})(?:der|die|das|den|ein|ist|sind|wird|wurde|nicht|welche[rs]?|wie|wann|wer|bitte|und|oder|mit|für|mir|sont|que|la|quel(?:le)?s?|avec|pour|dans|les|des|une|et|cuál|cómo|está|están|los|las|el|una|para|con)(?!\p{L})/giu;
const english = /\b(?:the|is|are|what|why|when|how|which|who|does|do|did|show|in|of|since|only|compare)\b/gi;

interface Spoken {
  /** In English, as far as it was understood. */
  readonly text: string;
  readonly isForeign: boolean;
}

/** A longer text says more than one of the questions. */
const longestQuestion = 200;

/** Reads what was written in another language: the questions that are asked most, and that something is wrong. */
function readLanguage(text: string): Spoken {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const times: string[] = [];
  let isKnown = false;
  let plain = text.replaceAll('’', "'").replace(/^\s*[¿¡]\s*/, '');
  for (const [phrase, form] of phrases) {
    plain = plain.replace(form, (...found: readonly unknown[]) => {
      const said = filled(phrase, found);
      if (timed.test(said)) times.push(said);
      isKnown ||= !homographs.test(String(found[0]));
      return said;
    });
  }
  const asked = plain.length <= longestQuestion ? questions.find(([, form]) => plain.search(form) >= 0) : undefined;
  const foreign = text.match(foreignWords)?.length ?? 0;
  const marks = letters > latin * 2 || trouble.test(text) || isKnown || asked !== undefined ? 1 : 0;
  const isForeign = foreign + marks > (text.match(english)?.length ?? 0);
  if (!isForeign) return { text, isForeign };
  if (asked !== undefined) {
    const [known, form] = asked;
    const found = [...plain.matchAll(form)][0] ?? [];
    return { text: [filled(known, found), ...times].join(' '), isForeign };
  }
  // What was not understood is looked into: a question is likelier than a greeting.
  return { text: trouble.test(text) ? `why does it fail: ${plain}` : plain, isForeign };
}

/** With the one group that took part in the match. */
function filled(phrase: string, [, ...groups]: readonly unknown[]): string {
  return phrase.replace('$1', String(groups.find((group) => typeof group === 'string') ?? ''));
}
