import type { MachinePrompts, PromptRules, PromptWish } from '../../../core/turns/machine-prompts.ts'
import type { Entry } from '../../../core/talk/entry.ts'
import type { Io } from '../../../core/io.ts'
import type { Store } from '../../../core/talk/store.ts'
import type { Index } from '../../../store/index/conversation-index.ts'
import type { Program } from '../../../base/process/own-program.ts'
import type { Project } from '../../../home/project.ts'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../base/error-message.ts'
import { ownerPid } from '../../../base/process/owner.ts'
import { isEntry } from '../../../core/talk/entry.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { TrustBook } from '../../../safety/trust/folder-trust.ts'
import { enabledAgents } from '../../../settings/enabled-agents.ts'
import { readSettings } from '../../../settings/settings.ts'
import { openProject, openSession } from '../../../home/project.ts'

type ProjectPromptParts = {
  io: Io
  home: string
  store: Store
  /** Opens the index for one request; the caller closes it. */
  open(): Index
  /** The command that starts this program. */
  program: Program
  allowed: boolean
  /** Hides secrets in the output of a turn that failed to begin. */
  mask(text: string): string
}

/** How long to wait for the beginning of a turn. */
const patienceMs = 20_000
/** How many characters of the output are shown if a turn could not begin. */
const longestTrouble = 2_000

/**
 * Begins turns as `termaite -p` does: each in a process of its own, in the folder of its project. The process is independent, so the turn
 * continues when the hub stops; `termaite ps` lists it, and the page, `termaite stop` or an open chat reach it like every other turn. The
 * text of the prompt is the standard input of the process, so no list of processes shows it.
 */
export class ProjectPrompts implements MachinePrompts {
  #parts: ProjectPromptParts

  constructor(parts: ProjectPromptParts) {
    this.#parts = parts
  }

  async rules(): Promise<PromptRules> {
    const { allowed, home, io } = this.#parts
    if (!allowed) return { allowed, agents: [] }
    return { allowed, agents: enabledAgents(await readSettings({ home }, { env: io.env })).map(({ name }) => name) }
  }

  async send(wish: PromptWish): Promise<{ session: string }> {
    const { allowed, io } = this.#parts
    if (!allowed)
      throw new HubError('forbidden', 'This hub takes no prompts. Start it with: termaite serve --allow-prompts')
    if (wish.text.trim() === '') throw new HubError('wrong', 'The prompt is empty.')
    const { project, session: known } = await this.#placeOf(wish)
    await this.#check(project.root, wish.agent)
    const session =
      wish.fresh || known === undefined ? (await openSession(project, { fresh: true }, io.clock)).id : known
    const { mode } = (await project.doc.read()).sessions[session] ?? {}
    const args = [
      ...['-p', '-', '--exclusive', '--session', session],
      ...(mode === undefined ? [] : ['--mode', mode]),
      ...(wish.agent === undefined ? [] : ['--agent', wish.agent]),
    ]
    await this.#begin(project, session, args, wish.text)
    return { session }
  }

  /** The project for a prompt, and the session that the prompt names. */
  async #placeOf({ session, project: slug, fresh }: PromptWish): Promise<{ project: Project; session?: string }> {
    const index = this.#parts.open()
    try {
      await index.catchUp()
      const found =
        session === undefined
          ? (await index.projects()).find((one) => one.slug === slug)
          : (await index.sessions()).find(({ id }) => id === session)
      if (!found)
        throw new HubError(
          'missing',
          session === undefined ? `There is no project ${slug ?? ''}.` : `There is no session ${session}.`,
        )
      const { path } = found
      if ('cli' in found && found.cli !== undefined)
        throw new HubError(
          'conflict',
          `This session was imported from ${found.cli} and can only be read here. Continue it in a terminal: termaite sessions resume ${session}`,
        )
      if (path === undefined || !existsSync(path))
        throw new HubError('conflict', `The folder of this project is gone: ${path ?? 'its path is not known'}.`)
      const project = openProject(this.#parts.store, path)
      if (session !== undefined && 'begins' in found && !fresh) {
        // If a document was lost, the session is not in it any more; without this entry a new session could get the same name.
        const kept = { startedAt: found.started, from: found.begins }
        await project.doc.update((now) =>
          Object.hasOwn(now.sessions, session) ? now : { ...now, sessions: { ...now.sessions, [session]: kept } },
        )
        return { project, session }
      }
      return { project }
    } finally {
      await index.close()
    }
  }

  /** Throws if the folder is not trusted, or if its settings lack the agent. */
  async #check(root: string, agent: string | undefined): Promise<void> {
    const { io, home, store } = this.#parts
    const { state } = await new TrustBook(store, { clock: io.clock, own: home }).of(root)
    if (state !== 'trusted')
      throw new HubError(
        'conflict',
        `${root} has files that steer agents, and ${state === 'changed' ? 'they have changed since you trusted them' : 'you have not trusted them yet'}. Look at them in a terminal: termaite trust ${JSON.stringify(root)}`,
      )
    const settings = await readSettings({ home, project: root }, { env: io.env }).catch((error: unknown) => {
      throw new HubError('conflict', `The settings of ${root} cannot be used: ${messageOf(error)}`)
    })
    const names = enabledAgents(settings).map(({ name }) => name)
    if (agent !== undefined && !names.includes(agent))
      throw new HubError('wrong', `agent: found "${agent}", allowed: ${names.join(', ')}.`)
  }

  /** Starts the process of a turn, and waits until its prompt is stored. */
  async #begin(project: Project, session: string, args: readonly string[], text: string): Promise<void> {
    const { io, home, mask } = this.#parts
    const [program, ...first] = this.#parts.program
    const from = await project.log.end()
    const input = privateFile(home, text)
    const trouble = privateFile(home, '')
    let child: ChildProcess
    try {
      child = spawn(program, [...first, ...args], {
        cwd: project.root,
        env: io.env,
        // A signal to the hub's process group, as from Ctrl+C, must not reach the turn.
        detached: true,
        stdio: [input, 'ignore', trouble],
      })
    } finally {
      closeSync(input)
    }
    child.unref()
    const over = new AbortController()
    const ended = once(child, 'exit').then(
      () => 'ended' as const,
      (error: unknown) => messageOf(error),
    )
    try {
      const first = await Promise.race([
        began(project, { session, pid: child.pid, from }, over.signal),
        ended,
        io.clock.sleep(patienceMs, over.signal).then(() => 'late' as const),
      ])
      // A turn that waits for other turns counts as begun. A turn that is already over may have been faster than the announcement of the
      // log.
      if (first === 'began' || first === 'late') return
      if (await isKept(project, { session, pid: child.pid, from })) return
      const said = first === 'ended' ? textIn(trouble) : first
      throw new HubError(
        'conflict',
        `The turn could not begin: ${mask(said).trim() || 'its process exited without a message.'}`,
      )
    } finally {
      over.abort()
      closeSync(trouble)
    }
  }
}

type Wanted = { session: string; pid?: number; from: number }

const isPromptOf = (item: Entry | undefined, { session, pid }: Wanted) =>
  isEntry(item) &&
  item.type === 'prompt' &&
  item.session === session &&
  item.owner !== undefined &&
  ownerPid(item.owner) === pid

/** Resolves when the prompt of a process is in the log; never resolves if the signal aborts first. */
async function began({ log }: Project, wanted: Wanted, signal: AbortSignal): Promise<'began'> {
  for await (const { item } of log.follow(wanted.from, signal)) if (isPromptOf(item, wanted)) return 'began'
  return new Promise(() => {})
}

async function isKept({ log }: Project, wanted: Wanted): Promise<boolean> {
  for await (const { at, item } of log.back()) {
    if (isPromptOf(item, wanted)) return true
    if (at < wanted.from) return false
  }
  return false
}

/** An open file without a name, which disappears with the last process that has it open. */
function privateFile(home: string, text: string): number {
  const folder = join(home, 'run')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `prompt-${randomBytes(8).toString('hex')}`)
  const writing = openSync(path, 'wx+', 0o600)
  try {
    writeSync(writing, text)
    // The file is opened a second time, so that the reader starts at the beginning.
    return openSync(path, 'r+')
  } finally {
    closeSync(writing)
    rmSync(path, { force: true })
  }
}

function textIn(file: number): string {
  const { size } = fstatSync(file)
  const bytes = Buffer.alloc(Math.min(size, longestTrouble))
  readSync(file, bytes, 0, bytes.length, size - bytes.length)
  return bytes.toString('utf8').replace(/^termaite: /gm, '')
}
