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

const common =
  /(?<!\p{L})(?:ist|sind|wird|wurde|nicht|welche[rs]?|wie|wann|wer|bitte|und|oder|mit|für|sont|quel(?:le)?s?|avec|pour|dans|les|des|une|est-ce|cuál|cómo|está|están|los|las|una|para|con)(?!\p{L})/giu;
const english = /\b(?:the|is|are|what|why|when|how|which|who|does|do|did|show|in|of|since|only)\b/gi;

export interface Spoken {
  /** In English, as far as it was understood. */
  readonly text: string;
  readonly isForeign: boolean;
}

/** Reads what was written in another language: the questions that are asked most, and that something is wrong. */
export function readLanguage(text: string): Spoken {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const known = words.find(([, form]) => form.test(text))?.[0];
  const foreign = text.match(common)?.length ?? 0;
  const marks = letters > latin * 2 || trouble.test(text) || known !== undefined ? 1 : 0;
  const isForeign = foreign + marks > (text.match(english)?.length ?? 0);
  if (!isForeign) return { text, isForeign };
  // What was not understood is looked into: a question is likelier than a greeting.
  return { text: known ?? (trouble.test(text) ? `why does it fail: ${text}` : text), isForeign };
}
