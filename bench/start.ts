import type { BenchMachine, Row } from './measure.ts'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, medians, ms, start as program, time, withMachine } from './measure.ts'

const agent = 'cat >/dev/null; echo hi'
/** The least that Node can do with the processes of a turn: it starts a watchdog and the agent, and prints the answer. */
const least = `
  const { spawn } = require('child_process')
  const watchdog = spawn('/bin/sh', ['-c', 'while read -r run; do :; done'], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watchdog.unref()
  watchdog.stdin.unref()
  const agent = spawn('bash', ['-c', ${JSON.stringify(agent)}], { detached: true })
  agent.stdin.end('x')
  agent.stdout.on('data', (words) => process.stdout.write(words))
  agent.on('close', () => process.exit())`
const runs = 15

export async function start(): Promise<Row[]> {
  return withMachine({ agent }, async (machine) => {
    const { project, env } = machine
    const node = process.execPath
    makeRepository(project)
    const [bare, version, alone, relay, turn, kept] = await medians(runs, [
      () => time([node, '-e', '0']),
      () => time([...program, '--version'], { env }),
      () => time(['bash', '-c', agent], { cwd: project }),
      () => time([node, '-e', least], { cwd: project }),
      () => time([...program, '-p', 'x', '--ephemeral'], { cwd: project, env }),
      () => time([...program, '-p', 'x'], { cwd: project, env }),
    ])
    const against = (ours: number) =>
      `${ms(ours)} against ${ms(bare!)}; the CLI alone ${ms(alone!)}, the least Node program around it ${ms(relay!)}`
    return [
      {
        what: '--version against node -e 0',
        value: version! / bare!,
        unit: 'ratio',
        bar: 1.25,
        detail: `${ms(version!)} against ${ms(bare!)}`,
      },
      {
        what: '-p, kept and snapshot, against node -e 0',
        value: kept! / bare!,
        unit: 'ratio',
        detail: against(kept!),
      },
      {
        what: '-p --ephemeral against node -e 0',
        value: turn! / bare!,
        unit: 'ratio',
        detail: against(turn!),
      },
      ...(await budget(machine)),
    ]
  })
}

/** A small project, as most are in which somebody tries termaite. */
function makeRepository(project: string): void {
  execFileSync('git', ['init', '-q'], { cwd: project })
  for (let number = 0; number < 60; number++)
    writeFileSync(join(project, `file-${number}.ts`), `export const n = ${number}\n`)
}

/** The work that each mark of a turn ends; see src/base/mark.ts. */
const parts: Record<string, string> = {
  node: 'Node starts',
  code: 'our code is loaded',
  settings: 'the command line and the settings are read',
  conversation: 'the conversation is opened',
  history: 'the history is read, and the watchdog starts',
  snapshot: 'the project is compared with its last snapshot',
  agent: 'the agent is chosen and its process starts',
  answer: 'the agent answers',
  'second snapshot': 'the project is compared again',
  end: 'the end is kept and printed',
}

/** Where the time of a kept turn goes, by the marks of the program itself. */
async function budget({ folder, project, env }: BenchMachine): Promise<Row[]> {
  const file = join(folder, 'marks.json')
  const names = Object.keys(parts)
  const taken: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let run = 0; run < runs; run++) {
    await time([...program, '-p', 'x'], { cwd: project, env: { ...env, TERMAITE_MARKS: file } })
    const moments = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
    names.forEach((name, index) => taken[name]!.push(moments[name]! - (moments[names[index - 1]!] ?? 0)))
  }
  const whole = names.reduce((sum, name) => sum + at(taken[name]!, 0.5), 0)
  return names.map((name) => ({
    what: `  of a kept turn: ${parts[name]}`,
    value: at(taken[name]!, 0.5),
    unit: 'ms',
    detail: `${((at(taken[name]!, 0.5) / whole) * 100).toFixed(0)} %`,
  }))
}
