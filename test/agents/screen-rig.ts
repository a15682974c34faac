import type { TerminalHost } from '../../src/core/screen/terminal.ts'
import type { Dialog, Profile, ScreenFacts } from '../../src/core/profile/profile.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import type { ScreenParts, ScreenSeat, ScreenSpec } from '../../src/agents/screen/screen-agent.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import type { FakeTty, Mode } from '../fixtures/fake-cli.ts'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { randomName } from '../../src/base/id.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { fakeCli } from '../fixtures/fake-cli.ts'
import { profileOf } from './pipe-rig.ts'

const program = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

/** The surroundings of fake CLIs: terminals in memory, tmux, or PTYs of our own. */
export type Stage = {
  host: TerminalHost
  clock: Clock
  cwd: string
  /** A gate at which a CLI waits, and the word by which it knows it. */
  gate(): { word: string; open(): void }
  close(): Promise<void>
}

export const kinds = ['scripted', 'tmux', 'pty'] as const
export type Kind = (typeof kinds)[number]

/** Why a kind of terminal cannot be tried here; false when it can. */
export function lacks(kind: Kind): string | false {
  return kind === 'tmux' && spawnSync('tmux', ['-V']).error ? 'tmux is not installed' : false
}

export function stageOf(kind: Kind, clock: Clock = realClock): Stage {
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-screen-'))
  return kind === 'scripted' ? scriptedStage(cwd, clock) : realStage(kind, cwd, clock)
}

function realStage(kind: 'tmux' | 'pty', cwd: string, clock: Clock): Stage {
  const socket = `termaite-screen-${randomName()}`
  const env = { PATH: process.env.PATH, HOME: cwd, SHELL: '/bin/bash', LANG: 'C.UTF-8', TMUX_TMPDIR: cwd }
  const parts = { folder: join(cwd, 'terminals'), env, clock, socket }
  const host = kind === 'tmux' ? tmuxHost(parts) : ptyHost(parts)
  return {
    host,
    clock,
    cwd,
    gate() {
      const word = join(cwd, `gate-${randomName()}`)
      execFileSync('mkfifo', [word])
      // Opening a fifo waits for its reader, so it is done once, in a process beside the test.
      const child = once(() => spawn('sh', ['-c', `: > '${word}'`]))
      return { word, open: () => child().unref() }
    },
    async close() {
      await host.close()
      if (kind === 'tmux') spawnSync('tmux', ['-L', socket, 'kill-server'], { env })
      rmSync(cwd, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function scriptedStage(cwd: string, clock: Clock): Stage {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const host = scriptedTerminals((command) => {
    const [gate = '', ...modes] = command.split(' ').slice(3)
    return (tty) =>
      fakeCli(
        scriptedTty(tty, clock, async () => gates.get(gate)?.promise),
        modes as Mode[],
      )
  }, clock)
  return {
    host,
    clock,
    cwd,
    gate() {
      const word = randomName()
      const opening = Promise.withResolvers<void>()
      gates.set(word, opening)
      return { word, open: () => opening.resolve() }
    },
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
    async tool(ms) {
      tty.children++
      await clock.sleep(ms, tty.signal)
      tty.children--
    },
    gate,
    height: 23,
  }
}

/** The command line of a fake CLI. */
export const fakeCommand = (gate: string, modes: readonly Mode[]) =>
  `'${process.execPath}' --disable-warning=ExperimentalWarning ${program} ${gate} ${modes.join(' ')}`

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

export type Over = {
  spec?: Partial<ScreenSpec>
  facts?: Partial<ScreenFacts>
  profile?: Partial<Profile>
  seat?: Partial<ScreenSeat>
}

/** A fake CLI in a terminal of the stage, as an agent, and what opens its gate. */
export function faked(stage: Stage, modes: readonly Mode[], over: Over = {}): { agent: Agent; open(): void } {
  const gate = stage.gate()
  const screen: ScreenFacts = {
    command: ({ resume }) => fakeCommand(gate.word, resume === undefined ? modes : [...modes, `resume:${resume}`]),
    leashes: { read: 'looks', ask: 'asks', edit: 'edits', all: 'all' },
    reader,
    dialog,
    interrupt: ['Escape'],
    quit: [],
    ...over.facts,
  }
  const profile = profileOf({ ...over.profile, screen })
  const spec = { name: 'faker', window: 1000, timeoutMs: 600_000, silenceMs: 300_000, profile, ...over.spec }
  return { agent: screenAgent(spec, { cwd: stage.cwd, leash: 'ask', ...over.seat }, partsOf(stage)), open: gate.open }
}

export function partsOf({ host, clock, cwd }: Stage): ScreenParts {
  return { host: async () => host, clock, home: cwd, env: {}, temp: join(cwd, 'prompts') }
}

/** A program of a test's own in memory, as an agent: all that reached its keyboard is in `typed`. */
export function played(clock: Clock, program: (tty: Tty) => Promise<number>, over: Over = {}) {
  const typed: string[] = []
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-screen-'))
  const host = scriptedTerminals(
    () => (tty) =>
      program({
        ...tty,
        async read() {
          const text = await tty.read()
          if (text !== undefined) typed.push(text)
          return text
        },
      }),
    clock,
  )
  const stage: Stage = {
    host,
    clock,
    cwd,
    gate: () => ({ word: '', open: () => {} }),
    async close() {
      await host.close()
      rmSync(cwd, { recursive: true, force: true })
    },
  }
  return { ...faked(stage, [], over), stage, typed }
}
