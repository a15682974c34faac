import type { Dialect, Step } from '../../src/core/profile/profile.ts'

/** A CLI's speech for tests: each line is a step in JSON; `ask` carries the question alone. */
export function testDialect(over: Partial<Dialect> = {}): Dialect {
  let last: Step | undefined
  return {
    open: (prompt) => `${JSON.stringify({ prompt })}\n`,
    line(line) {
      const step = JSON.parse(line) as Step
      if (step.type === 'ask') return [{ ...step, reply: (picks) => `${JSON.stringify(picks ?? 'nobody')}\n` }]
      if (step.type === 'end') last = step
      return [step]
    },
    end: ({ code }) =>
      last
        ? []
        : [{ type: 'end', outcome: { ok: false, failure: { kind: 'crash', message: `no end, code ${code}` } } }],
    ...over,
  }
}

/** A command that says these steps. */
export function speaking(...steps: (Step | object | string)[]): string {
  const lines = steps.map((step) => (typeof step === 'string' ? step : JSON.stringify(step)))
  return `cat <<'STEPS'\n${lines.join('\n')}\nSTEPS`
}
