import type { TerminalHost } from '../../src/core/screen/terminal.ts'
import type { Dialog, Profile, ScreenFacts } from '../../src/core/screen/profile.ts'
import type { ScreenSeat, ScreenSpec } from '../../src/agents/screen/screen.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Tty } from '../../src/terminals/scripted.ts'
import type { FakeTty, Mode } from '../fixtures/fake-cli.ts'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { screenAgent } from '../../src/agents/screen/screen.ts'
import { realClock } from '../../src/base/clock.ts'
import { randomName } from '../../src/base/id.ts'
import { ptyHost } from '../../src/terminals/pty/host.ts'
import { scriptedTerminals } from '../../src/terminals/scripted.ts'
import { tmuxHost } from '../../src/terminals/tmux/host.ts'
import { fakeCli } from '../fixtures/fake-cli.ts'
import { profileOf } from './piping.ts'

const program = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.ts')

/** Where fake CLIs run: the scripted host, tmux, or PTYs of our own. */
export type Stage = {
  name: string
  host: TerminalHost
  clock: Clock
  cwd: string
  /** Lets the CLI go on that waits at its gate. */
  open(): void
  /** Prompts that CLIs of this stage are working on. */
  working(): string[]
  close(): Promise<void>
}

export const kinds = ['scripted', 'tmux', 'pty'] as const
export type Kind = (typeof kinds)[number]

/** Why a kind of terminal cannot be tested here. */
export function lacks(kind: Kind): string | false {
  if (kind === 'tmux' && spawnSync('tmux', ['-V']).status !== 0) return 'tmux is not here'
  return false
}

export function stageOf(kind: Kind, clock: Clock = realClock): Stage {
  const cwd = mkdtempSync(join(tmpdir(), 'screen-'))
  const gate = join(cwd, 'gate')
  const env = { PATH: process.env.PATH, HOME: cwd, SHELL: '/bin/bash', TERMAITE_KEYCHAIN: 'off' }
  if (kind === 'scripted') return scriptedStage(cwd, clock)
  spawnSync('mkfifo', [gate])
  const socket = `screens-${randomName()}`
  const host =
    kind === 'tmux' ? tmuxHost({ folder: join(cwd, 'terminals'), env, clock, socket }) : ptyHost({ env, clock })
  return {
    name: kind,
    host,
    clock,
    cwd,
    open: () => void spawnSync('sh', ['-c', `: > '${gate}'`]),
    working: () => [],
    async close() {
      await host.close()
      if (kind === 'tmux') spawnSync('tmux', ['-L', socket, 'kill-server'])
      rmSync(cwd, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function scriptedStage(cwd: string, clock: Clock): Stage {
  let open = Promise.withResolvers<void>()
  const host = scriptedTerminals(
    (command) => (tty) =>
      fakeCli(
        scriptedTty(tty, clock, () => open.promise),
        modesIn(command),
      ),
    clock,
  )
  return {
    name: 'scripted',
    host,
    clock,
    cwd,
    open() {
      open.resolve()
      open = Promise.withResolvers()
    },
    working: () => [],
    async close() {
      await host.close()
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

function scriptedTty(tty: Tty, clock: Clock, gate: () => Promise<void>): FakeTty {
  return {
    print: tty.print,
    draw(lines) {
      tty.clear()
      tty.print(lines.join('\n'))
    },
    read: tty.read,
    sleep: (ms) => clock.sleep(ms, tty.signal),
    gate,
    height: 23,
  }
}

const commandFor = (stage: Stage, modes: readonly Mode[]) =>
  `'${process.execPath}' --disable-warning=ExperimentalWarning ${program} ${join(stage.cwd, 'gate')} ${modes.join(' ')}`

const modesIn = (command: string) => command.split(' ').slice(4).filter(Boolean) as Mode[]

/** The dialogs of the fake CLI: each option by its number, and Escape for none. */
function dialog({ rows }: { rows: string[] }): Dialog | undefined {
  const at = rows.findLastIndex((row) => row.startsWith('Allow? '))
  if (at < 0) return undefined
  const options = rows.slice(at + 1).flatMap((row) => {
    const [, id, label] = /^ {2}(\d)\. (.*)$/.exec(row.trimEnd()) ?? []
    return id ? [{ id, label: label! }] : []
  })
  return {
    question: { about: 'permission', text: rows[at]!.slice(7).trimEnd(), from: [], options },
    keys: (picks) => (picks?.[0] ? [picks[0]] : ['Escape']),
  }
}

export const reader = { busy: /\(esc to interrupt\)/, asking: /^Allow\? /m, idle: /^> /m }

/** What is known of the fake CLI. */
export function fakeFacts(stage: Stage, modes: readonly Mode[], over: Partial<ScreenFacts> = {}): ScreenFacts {
  return {
    command: ({ resume }) => `${commandFor(stage, modes)}${resume === undefined ? '' : ` resume:${resume}`}`,
    leashes: { read: 'looks', ask: 'asks', edit: 'edits', all: 'all' },
    reader,
    dialog,
    interrupt: ['Escape'],
    quit: [],
    ...over,
  }
}

type Over = {
  spec?: Partial<ScreenSpec>
  facts?: Partial<ScreenFacts>
  profile?: Partial<Profile>
  seat?: Partial<ScreenSeat>
}

/** A fake CLI in a terminal of the stage, as an agent. */
export function faked(stage: Stage, modes: readonly Mode[], over: Over = {}) {
  const profile = profileOf({ ...over.profile, screen: fakeFacts(stage, modes, over.facts) })
  const spec: ScreenSpec = { name: 'faker', window: 1000, timeoutMs: 60_000, silenceMs: 30_000, profile, ...over.spec }
  return screenAgent(spec, { cwd: stage.cwd, leash: 'ask', ...over.seat }, partsOf(stage))
}

export function partsOf(stage: Stage) {
  return {
    host: async () => stage.host,
    clock: stage.clock,
    home: stage.cwd,
    env: {},
    temp: join(stage.cwd, 'prompts'),
  }
}

export { commandFor, writeFileSync }
