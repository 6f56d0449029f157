import { z } from 'zod';
import { act } from './command.ts';
import type { Register } from './command.ts';
import { Exit } from './exit.ts';
import { examine } from './examination.ts';

const marks = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

export const register: Register = (program, output, summary) => {
  const command = program.command('doctor').description(summary);
  act(command, output, z.object({}), async ({ settings }) => {
    const findings = await examine(settings);
    const ok = findings.every(({ status }) => status !== 'fail');
    output.result({ ok, checks: findings }, () =>
      findings
        .map(({ status, check, detail, hint }) => {
          const [colour, mark] = marks[status];
          const advice = hint === undefined ? '' : `\n      ${' '.repeat(16)}${hint}`;
          return `${output.style(colour, mark)}  ${check.padEnd(16)}${detail}${advice}`;
        })
        .join('\n'),
    );
    if (!ok) throw new Exit(1);
  });
};
