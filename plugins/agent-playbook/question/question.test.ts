import { describe, expect, it } from '@jest/globals';
import type { Assignment, EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import { newId } from '../../../src/contract/core/index.ts';
import { readQuestion } from './question.ts';

const asked = new Date('2026-03-01T11:55:00Z');
const askedAt = new Date('2026-03-01T12:00:00Z');
const earlier: readonly EarlierInvestigation[] = [
  {
    askedAt: asked,
    conclusion: {
      root_cause: 'x',
      category: 'errors',
      service: 'payment',
      confidence: 'high',
      claims: [],
      window: { start: '2026-03-01T11:00:00.000Z', end: '2026-03-01T11:55:00.000Z' },
    },
    steps: [],
  },
];

function read(content: string) {
  const assignment: Assignment = {
    organizationId: newId('org'),
    messages: ['What is wrong?', content].map((text, index) => ({
      id: newId('msg'),
      seq: index + 1,
      role: 'user',
      author: { kind: 'key', id: 'ak_test', name: 'test' },
      time: index === 0 ? asked : askedAt,
      content: text,
      parts: [],
    })),
    steps: [],
    earlier,
    askedAt,
  };
  return readQuestion(assignment);
}

const written = (range: { readonly start: Date; readonly end: Date } | undefined) =>
  range && `${range.start.toISOString().slice(8, 16)} ${range.end.toISOString().slice(8, 16)}`;

describe('a follow-up in German, French or Spanish', () => {
  it.each([
    [
      'affected: customers',
      ['Welche Kunden sind betroffen?', 'Quels clients sont touchés ?', '¿A qué clientes afecta?'],
    ],
    ['affected: customers', ['Sind Kunden davon betroffen?', 'Combien de clients ?', '¿Cuántos clientes?']],
    [
      'affected: countries',
      [
        'In welchen Ländern tritt das auf, welche Länder sind betroffen?',
        'Quels pays sont affectés ?',
        '¿Qué países están afectados?',
      ],
    ],
    ['affected: ', ['Wer ist betroffen?', 'Qui est concerné ?', '¿Quién está afectado?', '¿A quién afecta?']],
    [
      'state',
      [
        'Ist es jetzt behoben?',
        'Ist das Problem gelöst?',
        "C'est réglé maintenant ?",
        '¿Ya está arreglado?',
        '¿Se ha resuelto?',
      ],
    ],
    ['state', ['Passiert das immer noch?', 'Ça continue ?', '¿Sigue fallando?', '¿Todavía falla?']],
    ['traces', ['Zeig mir einen fehlerhaften Trace', 'Montre-moi une trace en échec', 'Muéstrame una traza fallida']],
    ['logs', ['Zeig mir die Fehler-Logs', 'Montre-moi les logs', 'Muéstrame los registros']],
    ['queries', ['Zeig mir das SQL', 'Montre-moi les requêtes', 'Muéstrame la consulta']],
    [
      'changes',
      [
        'Was war davor anders?',
        'Was hat sich vor den Fehlern geändert?',
        "Qu'est-ce qui a changé avant les erreurs ?",
        '¿Qué cambió antes de los errores?',
        'Gab es ein Deployment?',
      ],
    ],
    ['onset', ['Seit wann?', 'Wann fing das an?', 'Quand est-ce que ça a commencé ?', '¿Cuándo empezó?']],
    ['advice', ['Was soll ich tun?', 'Was kann ich machen?', 'Que dois-je faire ?', '¿Qué puedo hacer?']],
    ['certainty', ['Bist du sicher?', 'Tu es sûr ?', '¿Estás seguro?']],
    ['reasons', ['Warum?', 'Wieso das?', 'Pourquoi ?', '¿Por qué?']],
    ['blame: database', ['Liegt es an der Datenbank?', "C'est la base de données ?", '¿Es la base de datos?']],
    [
      'blame: memory leak',
      [
        'Gibt es einen Memory Leak?',
        'Gibt es ein Speicherleck?',
        'Une fuite de mémoire ?',
        '¿Hay una fuga de memoria?',
      ],
    ],
    ['blame: network', ['Ist es das Netzwerk?', 'Est-ce le réseau ?', '¿Es la red?']],
    ['health: cart', ['Ist cart in Ordnung?', 'Est-ce que cart va bien ?', '¿Está bien cart?']],
    ['failing', ['Wo gibt es die meisten Fehler?', "Où y a-t-il le plus d'erreurs ?", '¿Dónde hay más errores?']],
    ['unchecked', ['Was hast du nicht geprüft?', "Qu'est-ce que tu n'as pas vérifié ?", '¿Qué no has comprobado?']],
    ['help', ['Hilfe', 'Was kannst du?', 'Aide-moi', 'Ayuda']],
    [
      'order',
      ['Mach das Deployment rückgängig', 'Rolle payment zurück', 'Reviens à la version précédente', 'Revierte payment'],
    ],
  ])('asks for %s', (expected, texts) => {
    for (const text of texts) {
      const { asks, isForeign } = read(text);
      expect([text, 'what' in asks ? `${asks.kind}: ${asks.what}` : asks.kind, isForeign]).toEqual([
        text,
        expected,
        true,
      ]);
    }
  });

  it.each([
    ['Zeig mir einen fehlerhaften Trace', 'failures', true],
    ['Montre-moi une trace en échec', 'failures', true],
    ['Muéstrame una traza fallida', 'failures', true],
    ['Zeig mir einen langsamen Trace', 'slowness', true],
    ['Muéstrame las trazas con errores', 'failures', false],
    ['Montre-moi les traces', undefined, false],
  ])('shows the traces that were asked for: %s', (text, by, one) => {
    expect(read(text).asks).toEqual({ kind: 'traces', by, one });
  });

  it.each([
    ['Vergleiche mit gestern', 'Compare avec hier', 'Compara con ayer'],
    ['Und im Vergleich zu gestern?', 'Et comparé à hier ?', '¿Y comparado con ayer?'],
  ])('compares: %s, %s, %s', (...texts) => {
    for (const text of texts) {
      const { references, asks } = read(text);
      expect([text, asks.kind, references.map(written)]).toEqual([text, 'investigation', ['28T11:00 28T11:55']]);
    }
  });

  it.each([
    ['28T11:00 28T11:55', ['Und gestern?', 'Et hier ?', '¿Y ayer?', 'Was ist mit gestern?']],
    [
      '01T11:00 01T12:00',
      [
        'Und jetzt?',
        'Et maintenant ?',
        '¿Y ahora?',
        'Fehler in der letzten Stunde?',
        'Erreurs de la dernière heure ?',
        '¿Errores en la última hora?',
      ],
    ],
    [
      '01T11:30 01T12:00',
      ['Fehler der letzten 30 Minuten', 'Les erreurs des 30 dernières minutes', 'Errores de los últimos 30 minutos'],
    ],
    [
      '01T09:00 01T12:00',
      ['Warum ist es seit 9 Uhr langsam?', 'Pourquoi est-ce lent depuis 9h ?', '¿Por qué está lento desde las 9:00?'],
    ],
    ['01T10:00 01T11:00', ['Die Stunde davor', "L'heure d'avant", 'La hora anterior']],
  ])('is about %s', (range, texts) => {
    for (const text of texts) {
      const question = read(text);
      expect([text, question.asks.kind, written(question.range)]).toEqual([text, 'investigation', range]);
    }
  });

  it.each(['Nur checkout', 'Uniquement checkout', 'Solo checkout'])('narrows: %s', (text) => {
    expect([read(text).asks.kind, read(text).text]).toEqual(['investigation', 'only checkout']);
  });

  it.each([
    'how many traces?',
    'only checkout',
    'is hier-service down?',
    'compare with 13:00 to 13:30',
    'why is solo slow?',
    'client errors',
    'clients affected?',
    'errors by client',
  ])('is not: %s', (text) => {
    expect([read(text).isForeign, read(text).text]).toEqual([false, text]);
  });
});
