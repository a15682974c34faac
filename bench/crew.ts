import type { BenchMachine, Row } from './measure.ts'
import type { Process } from './processes.ts'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { shortHash } from '../src/base/hash.ts'
import { BareTmux } from './bare.ts'
import { Conductor } from './conductor.ts'
import { at, ms, start, withMachine } from './measure.ts'
import { below, busyShare, memoryMB } from './processes.ts'

const agents = 50
const turns = 9
const windowMs = 6_000
const drawsPerSecond = 20

/** Has a long past, waits for a line, and then draws all of its screen again and again, as the CLIs do while they work. */
const drawing = `printf 'line %s of a long talk, which is still there for a person who scrolls back\n' {1..12000}
printf '> '
IFS= read -r line
for row in {1..24}; do body+="row $row of a screen that is drawn again and again, as agents do at work\\033[K\\r\\n"; done
while :; do
  printf "\\033[H\${body}drawn %s" $((n += 1))
  IFS= read -rsn1 -t ${1 / drawsPerSecond} key
done
`

/** Fifty agents under one server, beside the same programs in tmux alone. */
export async function crew(): Promise<Row[]> {
  const hosts = (['tmux', 'pty'] as const).filter((host) => host === 'pty' || !spawnSync('tmux', ['-V']).error)
  const bare = hosts[0] === 'tmux' ? await withMachine({}, tmuxAlone) : undefined
  const rows: Row[] = []
  for (const host of hosts) rows.push(...(await withMachine({}, (machine) => fifty(machine, host, bare))))
  return rows
}

async function fifty(machine: BenchMachine, host: 'tmux' | 'pty', bare: number | undefined): Promise<Row[]> {
  const env = { ...machine.env, TMUX_TMPDIR: machine.folder }
  const script = settle(machine, host)
  const conductor = new Conductor({ ...machine, env })
  const socket = `termaite-${shortHash(machine.home)}`
  try {
    await conductor.begin()
    const timer = (await conductor.call('spawn_agent', { agent_type: 'timer' })).slot
    await conductor.call('wait_for_idle', { slot: timer })
    const began = performance.now()
    const slots: number[] = []
    for (let i = 0; i < agents; i++) slots.push((await conductor.call('spawn_agent', { agent_type: 'drawing' })).slot)
    for (let idle = false; !idle;)
      idle = (await conductor.call('wait_for_idle', { slot: slots, timeout: 60, lines: 1 })).is_idle
    const spawned = (performance.now() - began) / agents
    const server = host === 'tmux' ? [tmuxPid(socket, env)] : []
    const look = () => split(below([conductor.pid, ...server]), script)
    const idle = await watched(look)
    const atRest = await noticed(conductor, timer)
    for (const slot of slots) await conductor.call('send_to_agent', { slot, text: 'go' })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const busy = await watched(look)
    const atWork = await noticed(conductor, timer)
    const memory = memoryMB(look().ours)
    const load = `load ${loadavg()[0]!.toFixed(0)}`
    return [
      {
        what: `${host}: memory of our own processes with ${agents} agents at work, each with 10,000 rows behind it`,
        value: memory,
        unit: 'MB',
        bar: 250,
        detail: `the server ${memoryMB(look().ours.filter(({ pid }) => pid === conductor.pid)).toFixed(0)} MB, the shells around the agents the rest; ${(spawned / 1000).toFixed(2)} s for each to be ready, started together (${load})`,
      },
      {
        what: `${host}: CPU of our own with ${agents} agents at rest, of one core`,
        value: idle.ours,
        unit: 'ratio',
        detail: idle.tmux === undefined ? load : `tmux itself ${idle.tmux.toFixed(2)} (${load})`,
      },
      {
        what: `${host}: CPU of our own while ${agents} draw ${drawsPerSecond} times a second, of one core`,
        value: busy.ours,
        unit: 'ratio',
        detail: `the agents ${busy.agents.toFixed(2)}${busy.tmux === undefined ? '' : `, tmux itself ${busy.tmux.toFixed(2)}`}${bare === undefined ? '' : `; tmux alone with the same ${bare.toFixed(2)}`} (${load})`,
      },
      {
        what: `${host}: a closing fence to wait_for_idle’s answer, median`,
        value: at(atRest, 0.5),
        unit: 'ms',
        bar: 100,
        detail: `${agents} agents at rest beside it; the slowest of ${turns}: ${ms(Math.max(...atRest))}`,
      },
      {
        what: `${host}: the same while ${agents} draw`,
        value: at(atWork, 0.5),
        unit: 'ms',
        bar: 100,
        detail: `the slowest of ${turns}: ${ms(Math.max(...atWork))} (${load})`,
      },
    ]
  } finally {
    const close = [...start.slice(1), 'crew', 'close', '--yes']
    await promisify(execFile)(start[0], close, { cwd: machine.project, env }).catch(() => {})
    await conductor.leave()
    spawnSync('tmux', ['-L', socket, 'kill-server'], { env, stdio: 'ignore' })
  }
}

/** Gives the agents' script, by which they are known. */
function settle({ home, folder }: BenchMachine, host: 'tmux' | 'pty'): string {
  const script = join(folder, 'drawing.sh')
  writeFileSync(script, drawing)
  const timer = `${process.execPath} --disable-warning=ExperimentalWarning ${fakeCli} none scroll moment`
  const settings = {
    terminals: { host },
    leash: 'edit',
    crew: { perWorkspace: agents + 1, total: agents + 1 },
    agents: {
      drawing: { command: `bash ${script}`, idle_pattern: '^> ?$' },
      timer: { command: timer, idle_pattern: '^> ?$', response_fence: true },
    },
  }
  writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
  return script
}

/** How long after each closing fence a waiting client is told, in ms: the answer is the moment at which the fence was drawn. */
async function noticed(conductor: Conductor, slot: number): Promise<number[]> {
  const all: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    await conductor.call('send_to_agent', { slot, text: 'What time is it?' })
    await conductor.call('wait_for_idle', { slot, timeout: 60, lines: 1 })
    const told = process.hrtime.bigint()
    const { output } = await conductor.call('get_artifact', { slot })
    all.push(Number(told - BigInt(output)) / 1e6)
  }
  return all
}

type Split = { ours: Process[]; agents: Process[]; tmux: Process[] }

const fakeCli = join(import.meta.dirname, '..', 'test', 'fixtures', 'fake-cli.ts')

/** The agents themselves and tmux would be there without us. */
function split(all: readonly Process[], script: string): Split {
  const tmux = all.filter(({ line, ppid }) => /^tmux |\/tmux /.test(line) && ppid === 1)
  const agents = all.filter(({ line }) => line.trim() === `bash ${script}` || line.includes(` ${fakeCli} `))
  return { ours: all.filter((one) => !tmux.includes(one) && !agents.includes(one)), agents, tmux }
}

async function watched(look: () => Split): Promise<{ ours: number; agents: number; tmux?: number }> {
  const before = look()
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, windowMs))
  const after = look()
  const took = performance.now() - began
  const share = (of: keyof Split) => busyShare(before[of], after[of], took)
  return { ours: share('ours'), agents: share('agents'), ...(after.tmux.length > 0 ? { tmux: share('tmux') } : {}) }
}

function tmuxPid(socket: string, env: Record<string, string>): number {
  return Number(execFileSync('tmux', ['-L', socket, 'display-message', '-p', '#{pid}'], { env, encoding: 'utf8' }))
}

/** Measures the part of one core that tmux uses for the same programs. */
async function tmuxAlone({ folder, env }: BenchMachine): Promise<number> {
  const script = join(folder, 'drawing.sh')
  writeFileSync(script, drawing)
  const tmux = new BareTmux({ ...env, LANG: 'C.UTF-8', TMUX_TMPDIR: folder }, folder)
  try {
    await tmux.begun()
    await tmux.quiet()
    for (let i = 0; i < agents; i++) await (await tmux.open(['bash', script])).type('go\n')
    const pid = await tmux.pid()
    const { tmux: share } = await watched(() => split(below([pid]), script))
    return share ?? NaN
  } finally {
    tmux.close()
  }
}
