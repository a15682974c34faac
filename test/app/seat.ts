import type { BackgroundCommands } from '../../src/native/tools/shell/background-commands.ts'
import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/time/clock.ts'
import type { CommandWorld } from '../../src/core/talk/command.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { AgentStanding, Standing } from '../../src/chat/desk/chat-desk.ts'
import type { App } from '../../src/turn/app.ts'
import type { DeskControls } from '../../src/desk/desk-controls.ts'
import type { Io } from '../../src/core/io.ts'
import { InnerWorks } from '../../src/core/work/inner-work.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { HandClock } from '../hand-clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { conversationOf, openApp } from '../../src/turn/app.ts'
import { initLine } from '../../src/cli/commands/init.ts'
import { placeOf } from '../../src/home/place.ts'
import { HistoryPages } from '../../src/desk/history-pages.ts'
import { openSession } from '../../src/home/project.ts'
import { enabledAgents } from '../../src/settings/enabled-agents.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { slashCommands } from '../../src/desk/slash/slash-commands.ts'
import { runTurn } from '../../src/app/turn.ts'
import { inMode } from '../../src/settings/work-mode.ts'

type Said = [how: string, text: string]

/** A person who types commands at a desk of their own: a real app on a temporary home, and controls that note what they are told. */
export class Seat {
  readonly folder: string
  readonly project: string
  readonly home: string
  readonly io: Io
  readonly clock = new HandClock()
  readonly said: Said[] = []
  readonly asked: Question[] = []
  /** The calls of the controls and of the screen, in order. */
  readonly turned: unknown[] = []
  /** The answers of the person, in order; once none is left, nobody answers. */
  readonly answers: (string[] | undefined)[] = []
  readonly agents: AgentStanding[] = []
  readonly stop = new AbortController()
  app!: App
  lastAnswer: string | undefined

  /**
   * With a clock of its own where a test ends a running process: the end of a process takes real time, and a wait for it on
   * a clock that nobody turns lasts for ever.
   */
  constructor(context: TestContext, settings: object, env: Record<string, string> = {}, clock?: Clock) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
    context.after(() => rmSync(this.folder, { recursive: true, force: true }))
    this.project = join(this.folder, 'project')
    this.home = join(this.folder, 'termaite')
    mkdirSync(this.project)
    mkdirSync(join(this.home, 'commands'), { recursive: true })
    this.configure(settings)
    this.io = {
      env: { PATH: process.env.PATH, HOME: this.folder, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: this.home, ...env },
      cwd: this.project,
      piped: false,
      in: new PassThrough(),
      out: new PassThrough(),
      err: new PassThrough(),
      clock: clock ?? this.clock,
      signal: new AbortController().signal,
    }
  }

  configure(settings: object): void {
    writeFileSync(join(this.home, 'settings.json'), JSON.stringify(settings))
  }

  async open(): Promise<void> {
    const place = placeOf(this.io)
    const settings = await readSettings({ home: place.home, project: place.root }, { env: this.io.env })
    this.app = await openApp(this.io, place, settings, { budget: noBudget })
  }

  /** The work that commands left for the end of the desk. */
  readonly ends: (() => Promise<void>)[] = []

  jobs = new Map<string, BackgroundCommands>()
  inside = new InnerWorks()

  readonly controls: DeskControls = {
    app: () => this.app,
    standing: () => this.#standing(),
    open: async (session) => {
      this.turned.push(['open', session])
      const { io, project, blobs } = this.app
      if ('id' in session) await project.doc.update((doc) => ({ ...doc, current: session.id }))
      const fork = 'until' in session ? { fork: { session: this.app.session.id, until: session.until } } : session
      const opened = await openSession(project, 'id' in fork || 'of' in fork ? {} : fork, io.clock)
      this.app = { ...this.app, session: opened, conversation: conversationOf(io, project, blobs, opened) }
    },
    leftSession: () => new AbortController().signal,
    renamed: async (name) => {
      this.app = { ...this.app, session: { ...this.app.session, name } }
    },
    reload: async () => {
      await this.open()
      this.turned.push(['reload'])
    },
    aim: (agent) => void this.turned.push(['aim', agent]),
    stay: (agent) => void this.turned.push(['stay', agent]),
    setStrategy: (strategy) => void this.turned.push(['strategy', strategy]),
    setLeash: (leash) => void this.turned.push(['leash', leash]),
    setThinking: async (how) => void this.turned.push(['think', how]),
    setModel: (agent, choice) => void this.turned.push(['model', agent, choice]),
    setMode: async (mode) => {
      this.turned.push(['mode', mode])
      this.app = { ...this.app, mode, settings: inMode(this.app.settings, mode) }
      return []
    },
    leavePlan: () => {
      this.turned.push(['leave plan'])
      this.app = { ...this.app, mode: 'chat' }
    },
    begin: async (prompt, make) => {
      for await (const event of make(this.app, { prompt, ask: this.world.ask, signal: this.stop.signal })) {
        const line = initLine(event)
        if (line) this.said.push([line.how, line.text])
      }
    },
    send: (prompt) => void this.turned.push(['send', prompt]),
    turn: async (prompt) => {
      this.turned.push(['turn', prompt])
      return { outcome: { ok: true, text: '' } }
    },
    command: async (command) => void this.turned.push(['command', command]),
    showProgress: (words) => void this.turned.push(['progress', words]),
    spend: (usage) => void this.turned.push(['spend', usage.input, usage.output]),
    atEnd: (work) => void this.ends.push(work),
    jobs: () => this.jobs,
    inside: () => this.inside,
    moveToBackground: () => (this.turned.push(['background']), false),
    lastAnswer: async () => this.lastAnswer,
    prompts: (most) => new HistoryPages(this.app.project.log, this.app.session).prompts(most),
  }

  readonly world: CommandWorld = {
    say: (text, how = 'text') => void this.said.push([how, text]),
    ask: async (question) => {
      this.asked.push(question)
      return this.answers.shift()
    },
    signal: this.stop.signal,
    screen: {
      suspend: async (work) => {
        this.turned.push(['suspend'])
        return work()
      },
      copy: async (text) => `copied ${JSON.stringify(text)}`,
      clear: () => void this.turned.push(['clear']),
      fill: (text) => void this.turned.push(['fill', text]),
      palette: (query) => void this.turned.push(['palette', query]),
      keys: () => void this.turned.push(['keys']),
      exit: () => void this.turned.push(['exit']),
    },
  }

  commands(warn?: (words: string) => void) {
    return slashCommands(this.controls, warn)
  }

  /** A line as it is typed; gives what was said to it. */
  async type(line: string): Promise<Said[]> {
    const [, name, args = ''] = /^\/(\S+)\s?(.*)$/s.exec(line)!
    const command = this.commands().find((one) => one.name === name)
    if (!command) throw new Error(`there is no command ${name}`)
    const before = this.said.length
    await command.run(args, this.world)
    return this.said.slice(before)
  }

  async complete(name: string, typed: string): Promise<readonly string[] | undefined> {
    return this.commands()
      .find((one) => one.name === name)
      ?.complete?.(typed)
  }

  async turn(prompt: string): Promise<string> {
    let id = ''
    // Two turns at one moment would have no order.
    await this.clock.turn(1)
    for await (const event of runTurn(this.app, { prompt, signal: this.stop.signal }))
      if (event.type === 'prompt' && 'turn' in event) id = String(event.turn)
    return id
  }

  #standing(): Standing {
    const { settings } = this.app
    const ready = enabledAgents(settings).map(({ name }) => ({ name, state: 'ready' as const }))
    return {
      project: 'project',
      mode: this.app.mode,
      leash: settings.leash,
      strategy: settings.rotationStrategy,
      agents: this.agents.length > 0 ? this.agents : ready,
      tokens: { used: 0, source: 'estimated' },
    }
  }
}

/** Agents that are plain commands, in their order. */
export function plain(commands: Record<string, string>, more: object = {}): object {
  const agents = Object.entries(commands).map(([name, command]) => ({ name, command, contextWindowTokens: 100_000 }))
  return { ...more, agents }
}

export async function seated(
  context: TestContext,
  settings: object,
  env: Record<string, string> = {},
  clock?: Clock,
): Promise<Seat> {
  const seat = new Seat(context, settings, env, clock)
  await seat.open()
  return seat
}
