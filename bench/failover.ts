import type { Row } from './measure.ts'
import { medians, start, time, withMachine } from './measure.ts'

const good = 'cat >/dev/null; echo hi'
const spent = 'echo "Error: usage limit reached" >&2; exit 1'

/** A spent quota to the next agent's first token: what the same turn costs more than with the good agent alone. */
export async function failover(): Promise<Row[]> {
  const run = (agents: Record<string, string>) =>
    withMachine(agents, ({ project, env }) => time([...start, '-p', 'x'], { cwd: project, env }))
  const [direct, handed] = await medians(11, [() => run({ good }), () => run({ spent, good })])
  return [
    {
      what: 'quota hit to the next agent’s first token',
      value: handed! - direct!,
      unit: 'ms',
      bar: 200,
      detail: `${handed!.toFixed(0)} ms with a handover, ${direct!.toFixed(0)} ms without`,
    },
  ]
}
