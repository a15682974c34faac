import type { Row } from './measure.ts'
import { medians, ms, program, time, withMachine } from './measure.ts'

const agent = 'cat >/dev/null; echo hi'

export async function start(): Promise<Row[]> {
  return withMachine({ agent }, async ({ project, env }) => {
    const node = process.execPath
    const [bare, version, alone, turn, kept] = await medians(15, [
      () => time([node, '-e', '0']),
      () => time([node, program, '--version'], { env }),
      () => time(['bash', '-c', agent], { cwd: project }),
      () => time([node, program, '-p', 'x', '--ephemeral'], { cwd: project, env }),
      () => time([node, program, '-p', 'x'], { cwd: project, env }),
    ])
    return [
      {
        what: '--version against node -e 0',
        value: version! / bare!,
        unit: 'ratio',
        bar: 1.25,
        detail: `${ms(version!)} against ${ms(bare!)}`,
      },
      {
        what: '-p against the CLI alone, kept and snapshot',
        value: kept! - alone!,
        unit: 'ms',
        bar: 60,
        detail: `${ms(kept!)} against ${ms(alone!)}; bare node is ${ms(bare!)} of it`,
      },
      {
        what: '-p --ephemeral against the CLI alone',
        value: turn! - alone!,
        unit: 'ms',
        bar: 60,
        detail: `${ms(turn!)} against ${ms(alone!)}`,
      },
    ]
  })
}
