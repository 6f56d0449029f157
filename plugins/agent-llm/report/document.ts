import { fenced } from '../../../src/contract/core/index.ts';
import type { InvestigationStep } from '../../../src/contract/storage/index.ts';
import { bullets, claimText, headline } from './answer.ts';
import type { Findings } from './answer.ts';

/** The incident's document: what the model concludes, all evidence, and what the playbook says by itself. */
export function writeDocument({ conclusion, nextSteps, steps, notes }: Findings, baseline: string): string {
  const refuted = steps.filter(({ verdict }) => verdict === 'refutes');
  const sections: readonly (readonly [title: string, body: string])[] = [
    ['Summary', [`${headline(conclusion)}.`, ...notes].join(' ')],
    [
      'Root cause',
      [
        conclusion.root_cause === '' ? 'Not found.' : `${conclusion.root_cause} (confidence: ${conclusion.confidence})`,
        bullets(conclusion.claims.map(claimText)),
      ]
        .filter(Boolean)
        .join('\n\n'),
    ],
    ['Evidence', steps.map(evidence).join('\n\n')],
    ['Ruled out', bullets(refuted.map((step) => `${step.question} ${step.observation} [${step.evidence_id}]`))],
    ['Next steps', bullets(nextSteps)],
    ['Open questions', bullets((conclusion.not_checked ?? []).map((what) => `Not checked: ${what}.`))],
    ['Without a model', baseline],
  ];
  const none = '_Nothing to report._';
  return `${sections.map(([title, body]) => `## ${title}\n\n${body === '' ? none : body}`).join('\n\n')}\n`;
}

function evidence({ evidence_id: id, question, verdict, observation, sql }: InvestigationStep): string {
  return `**${id}** ${question} (${verdict})\n\n${observation}\n\n${fenced(sql, 'sql')}`;
}
