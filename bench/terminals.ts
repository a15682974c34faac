import type { Row } from './measure.ts'
import type { Bare } from './bare.ts'
import type { Stage } from '../test/agents/screen-rig.ts'
import { join } from 'node:path'
import { turnOf } from '../test/contract/agent.ts'
import { faked, lacks, stageOf } from '../test/agents/screen-rig.ts'
import { barePty, BareTmux } from './bare.ts'
import { floods } from './flood.ts'
import { at, ms } from './measure.ts'
import { passThrough } from './pass-through.ts'

const rounds = 9
const cli = join(import.meta.dirname, '..', 'test', 'fixtures', 'fake-cli.ts')

/** Agents in terminals, beside the same program in tmux alone and in a PTY alone. */
export async function terminals(): Promise<Row[]> {
  const hosts = (['tmux', 'pty'] as const).filter((kind) => !lacks(kind))
  const rows: Row[] = []
  for (const kind of hosts) rows.push(...(await turns(kind)))
  return [...rows, ...(await passThrough()), ...(await floods(hosts))]
}

type Times = { ready: number; sent: number; noticed: number }

async function turns(kind: 'tmux' | 'pty'): Promise<Row[]> {
  const stage = stageOf(kind)
  const env = { PATH: process.env.PATH!, HOME: stage.cwd, LANG: 'C.UTF-8', TMUX_TMPDIR: stage.cwd }
  const tmux = kind === 'tmux' ? new BareTmux(env, stage.cwd) : undefined
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', cli, 'none', 'moment']
  const open = () => tmux?.open(argv) ?? barePty(argv, stage.cwd, { ...env, TERM: 'xterm-256color' })
  const ours: Times[] = []
  const bare: Times[] = []
  try {
    await tmux?.begun()
    // The first of each warms the caches.
    for (let round = 0; round <= rounds; round++) {
      const [mine, other] = [await ourTurn(stage, round), await bareTurn(open, round)]
      if (round > 0) (ours.push(mine), bare.push(other))
    }
  } finally {
    tmux?.close()
    await stage.close()
  }
  const alone = kind === 'tmux' ? 'tmux alone' : 'a bare PTY'
  const both = (what: keyof Times) =>
    [ours, bare].map((all) =>
      at(
        all.map((one) => one[what]),
        0.5,
      ),
    ) as [number, number]
  const [ready, bareReady] = both('ready')
  const [sent, bareSent] = both('sent')
  const [noticed, bareNoticed] = both('noticed')
  const slowest = Math.max(...ours.map((one) => one.noticed))
  return [
    {
      what: `${kind}: spawn to ready, against ${alone}`,
      value: ready / bareReady,
      unit: 'ratio',
      detail: `${ms(ready)} against ${ms(bareReady)}: a login shell reads its files first, and then its first screen must stand still for 300 ms`,
    },
    {
      what: `${kind}: send to screen`,
      value: sent,
      unit: 'ms',
      detail: `a turn’s prompt is drawn by its program; ${alone}: ${ms(bareSent)} from the keys to the screen`,
    },
    {
      what: `${kind}: a closing fence to the end of its turn`,
      value: noticed,
      unit: 'ms',
      bar: 100,
      detail: `the slowest of ${rounds}: ${ms(slowest)}; ${alone}: ${ms(bareNoticed)} until its bytes are there`,
    },
  ]
}

async function ourTurn(stage: Stage, round: number): Promise<Times> {
  const { agent } = faked(stage, ['moment'], { spec: { fence: true } })
  const began = performance.now()
  try {
    const failure = await agent.start!(AbortSignal.timeout(60_000))
    const ready = performance.now() - began
    if (failure) throw new Error(failure.message)
    const prompt = `prompt-${round}-here`
    const shown = drawn(agent.terminal!.output(), prompt)
    const sending = performance.now()
    const sent = shown.then((when) => when - sending)
    for await (const event of agent.turn(turnOf({ prompt, cwd: stage.cwd, leash: 'ask', clock: stage.clock }))) {
      if (event.type !== 'end') continue
      if (!event.outcome.ok) throw new Error(event.outcome.failure.message)
      return { ready, sent: await sent, noticed: since(event.outcome.text) }
    }
    throw new Error('a turn has an end')
  } finally {
    await agent.close()
  }
}

async function drawn(output: AsyncIterable<{ bytes: Uint8Array }>, text: string): Promise<number> {
  let seen = ''
  for await (const { bytes } of output) {
    seen += Buffer.from(bytes).toString()
    if (seen.includes(text)) return performance.now()
  }
  return NaN
}

async function bareTurn(open: () => Promise<Bare> | Bare, round: number): Promise<Times> {
  const began = performance.now()
  const program = await open()
  try {
    await program.seen(/> /)
    const ready = performance.now() - began
    const prompt = `prompt-${round}-here`
    const sending = performance.now()
    await program.type(prompt)
    await program.seen(new RegExp(prompt))
    const sent = performance.now() - sending
    await program.type('\r')
    const [moment] = await program.seen(/\d{12,}/)
    return { ready, sent, noticed: since(moment) }
  } finally {
    await program.close()
  }
}

/** How long ago a moment was that another process of this machine told, in ms. */
function since(moment: string): number {
  return Number(process.hrtime.bigint() - BigInt(moment)) / 1e6
}
