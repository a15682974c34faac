import type { Row } from './measure.ts'
import { start, time, withMachine } from './measure.ts'

const bytes = 1_000_000_000
const loud = `cat >/dev/null; yes 'a line of an answer that does not end for a very long time' | head -c ${bytes}`

/** An answer of 1 GB: memory stays bounded, and the whole of it comes out again. */
export async function longAnswer(): Promise<Row[]> {
  const small = await withMachine({ a: 'cat >/dev/null; seq 1 100' }, ({ project, env }) =>
    time([...start, '-p', 'x'], { cwd: project, env }),
  )
  const alone = await time(['bash', '-c', loud])
  const long = await withMachine({ loud }, ({ project, env }) => time([...start, '-p', 'x'], { cwd: project, env }))
  return [
    {
      what: 'peak memory of a 1 GB answer against a short one',
      value: long.peakMB / small.peakMB,
      unit: 'ratio',
      detail: `${long.peakMB.toFixed(0)} MB against ${small.peakMB.toFixed(0)} MB`,
    },
    {
      what: 'bytes of a 1 GB answer on stdout',
      value: long.out / bytes,
      unit: 'ratio',
      detail: `${long.out} of ${bytes}`,
    },
    {
      what: 'time of a 1 GB answer against the command alone',
      value: long.ms / alone.ms,
      unit: 'ratio',
      detail: `${(long.ms / 1000).toFixed(1)} s against ${(alone.ms / 1000).toFixed(1)} s`,
    },
  ]
}
