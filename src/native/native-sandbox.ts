import type { Consent } from '../core/work/policy.ts'
import type { Tool, ToolCall, ToolOutput } from '../core/work/tool.ts'
import type { CommandPlace, PlacedCall } from '../safety/rules/command-place.ts'
import type { WalledCommand } from '../safety/rules/wall-refusal.ts'
import type { Quarantined } from '../safety/wall/quarantine.ts'
import type { ShellStart } from './tools/shared/tool-parts.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { onOneLine } from '../base/text/ansi.ts'
import { withQuietGit } from '../base/files/git.ts'
import { defined } from '../base/defined.ts'
import { ownProgram } from '../base/process/program-path.ts'
import { withOwnKeys } from '../core/profile/key-variables.ts'
import { namedKeys } from '../border/agent-environment.ts'
import { acceptSettings } from '../safety/wall/project-setting-files.ts'
import { placeOf } from '../safety/rules/command-place.ts'
import { parseRule } from '../safety/rules/permission-rule.ts'
import { escapePattern, withoutBlanks } from '../safety/rules/rule-matching.ts'
import { wallEnvironment } from '../safety/wall/wall-environment.ts'
import { isWalled, outsidePlace, sandboxOf, walledNames, wallFacts } from './command-wall.ts'
import { hiddenKeys, homeView, projectCaches, showable } from './command-home.ts'
import { scratchRooms } from './native-scratch.ts'
import { consentOptions } from '../core/talk/consent.ts'

type AgentShell = {
  env: NativeParts['env']
  shell(command: string, call: ToolCall): Promise<ShellStart>
  interpreter(command: string, call: ToolCall, outside: boolean): Promise<ShellStart>
  /** Makes a tool report what the sandbox refused its command, and run the command again outside if the person agrees. */
  explain(tool: Tool): Tool
}

/** How an agent's shell commands run: behind a wall if the system has one, otherwise limited only by the policy. */
export function agentShell(name: string, parts: NativeParts, tools: () => readonly Tool[]): AgentShell {
  const { root, env: all, home, state } = parts
  const keys = namedKeys(state.tools.seats.get(name)?.settings ?? { agents: [] })
  const env = withQuietGit(withOwnKeys(all, [], keys), root)
  const runs = new CommandRuns()

  const start = async (command: string, call: ToolCall, given: CommandPlace | undefined): Promise<ShellStart> => {
    const plain: ShellStart = { argv: [ownProgram('bash', all, root), '-c', command] }
    const seat = state.tools.seats.get(name)
    const { leash = 'read' } = call
    if (!seat || (leash === 'all' && !isWalled(seat, leash))) return plain
    const facts = await wallFacts({ ...seat, leash }, tools(), parts)
    const place = runs.isFreed(call)
      ? { outside: 'you allowed it' }
      : (given ?? (facts && placeOf(leash, facts, 'leash')))
    // The policy lets a command run without a wall only if a person, a literal rule or the table of readers allows it.
    if (place && 'bare' in place) return plain
    if (place && 'reader' in place) return readerStart(command, call, parts)
    if (!facts || !place) throw new Error('there is no sandbox to run it in, so nothing was run.')
    const scope = seat.limits?.scope
    if ('outside' in place) {
      if (scope) throw new Error('a worker with a scope runs its commands only in the sandbox. Go on without this one.')
      runs.note(call, { outside: place.outside })
      return plain
    }
    // With a scope, only the files and folders in it are writable, and the repository is not.
    const inside = scope ? { ...place.inside, project: 'read' as const, git: 'read' as const } : place.inside
    const scratch = await scratchRooms(name, parts).of(inside.sockets ? leash : 'read')
    const mayWrite = place.inside.project === 'write'
    const caches = mayWrite ? await projectCaches(parts) : undefined
    const view = await homeView(seat.settings, parts)
    const places = scope && mayWrite ? await scopePlaces(scope, root) : []
    const added = parts.folders.now
    const limits = {
      ...{ root, added, ...inside, home: all.HOME ?? home, scratch },
      writable: [...places, ...(caches === undefined ? [] : [caches]), ...(mayWrite ? view.own : [])],
      readable: mayWrite ? view.shown : [...view.shown, ...view.own],
      hidden: await hiddenKeys(place.keys, call, parts, runs.judged(call)),
    }
    const walled = await sandboxOf(parts).wrap(plain.argv, limits)
    // The policy allowed the command because the wall would limit it.
    if ('none' in walled) throw new Error(`the sandbox could not be started (${walled.none}), so nothing was run.`)
    runs.note(call, { inside: { ...limits, cwd: call.cwd, sees: walled.sees, scope: mayWrite ? scope : undefined } })
    return {
      argv: walled.argv,
      env: withQuietGit(wallEnvironment(all, { ...walledNames(seat, scratch, caches), ...view.names }), root),
      walls: JSON.stringify([inside, places, scratch?.folder, added]),
      async settle() {
        const said = await walled.settle(
          async (taken) => !runs.isOver(call) && asksToKeep(taken, { command, call, name }, parts),
        )
        state.notes.waiting.push(...said)
        return said
      },
    }
  }

  return {
    env,
    shell: (command, call) => start(command, call, runs.judged(call)?.place),
    interpreter: async (command, call, outside) => {
      const seat = state.tools.seats.get(name)
      const { leash = 'read' } = call
      const facts = seat && (await wallFacts({ ...seat, leash }, tools(), parts))
      // Without a wall, the policy asks before code runs.
      if (!facts) return start(command, call, leash === 'read' ? undefined : { bare: true })
      return start(command, call, outside ? outsidePlace(facts) : undefined)
    },
    explain: (tool) => refusable(tool, name, runs, parts),
  }
}

/** Starts one of the plain readers, without a shell and with only the language and the time zone in its environment. */
async function readerStart(
  command: string,
  { cwd }: ToolCall,
  { root, home, env, folders }: NativeParts,
): Promise<ShellStart> {
  const { plainReader } = await import('../safety/rules/plain-readers.ts')
  // The files are checked again, because one may have been replaced since the policy checked it.
  const reader = await plainReader(command, { root, added: folders.now, home: env.HOME ?? home, path: env.PATH, cwd })
  if (!reader) throw new Error('a file that it reads has changed meanwhile, so nothing was run. Try again.')
  const { program, args, git } = reader
  const lean = Object.fromEntries(Object.entries(env).filter(([name]) => /^(?:LANG|LC_[A-Z]+|TZ)$/.test(name)))
  if (!git) return { argv: [program, ...args], env: lean }
  const { showingGit } = await import('../base/git/project-git.ts')
  const shown = await showingGit(cwd, args, env)
  if (!shown) throw new Error('there is no repository here.')
  const { argv, env: own, remove } = shown
  return {
    argv,
    env: own,
    async settle() {
      remove()
      return []
    },
  }
}

/** The places of a scope that a command may write. A missing place cannot be opened in a wall: only the tools can create it. */
async function scopePlaces(scope: readonly string[], root: string): Promise<string[]> {
  const real = await Promise.all(scope.map((path) => realpath(join(root, path)).catch(() => undefined)))
  // A link in the project may lead out of it.
  return real.filter((path) => path !== undefined && (path === root || path.startsWith(root + sep))) as string[]
}

/** How a command ran: inside the wall or outside. */
type CommandRun = { inside: WalledCommand; outside?: undefined } | { outside: string }

/** How each call ran its command, which calls the person freed from the wall, and which commands of a turn raised a question. */
class CommandRuns {
  #runs = new WeakMap<ToolCall, CommandRun>()
  #judged = new WeakMap<ToolCall, PlacedCall>()
  #freed = new WeakSet<ToolCall>()
  #over = new WeakSet<ToolCall>()
  #asked = new WeakMap<AbortSignal, Set<string>>()

  note(call: ToolCall, run: CommandRun): void {
    this.#runs.set(call, run)
  }

  of(call: ToolCall): CommandRun | undefined {
    return this.#runs.get(call)
  }

  judge(call: ToolCall, judged: PlacedCall | undefined): void {
    if (judged) this.#judged.set(call, judged)
  }

  judged(call: ToolCall): PlacedCall | undefined {
    return this.#judged.get(call)
  }

  /** Notes that a call has returned: a command that continues in the background can no longer ask. */
  end(call: ToolCall): void {
    this.#over.add(call)
  }

  isOver(call: ToolCall): boolean {
    return this.#over.has(call)
  }

  free(call: ToolCall): void {
    this.#freed.add(call)
  }

  isFreed(call: ToolCall): boolean {
    return this.#freed.has(call)
  }

  /** Whether this is the first question about this command in its turn. */
  isNew(command: string, { signal }: ToolCall): boolean {
    const asked = this.#asked.get(signal) ?? new Set()
    this.#asked.set(signal, asked)
    return !asked.has(command) && asked.add(command).size > 0
  }
}

/** Lets a person run a command outside after the sandbox refused it something; asks once for each command of a turn. */
function refusable(tool: Tool, name: string, runs: CommandRuns, parts: NativeParts): Tool {
  return {
    ...tool,
    async run(input, given) {
      const call = { ...given }
      runs.judge(call, parts.state.tools.judged.get(input as object))
      const output = await (async () => tool.run(input, call))().finally(() => runs.end(call))
      const effect = tool.effect?.(input, call.cwd)
      const ran = runs.of(call)
      // Settings that a tool wrote with permission count as the person's own, even while a command runs in the background.
      if (effect?.does === 'access')
        acceptSettings(effect.paths.flatMap(({ access, path }) => (access === 'read' ? [] : [path])))
      if (effect?.does !== 'command' || !ran) return output
      if (ran.outside !== undefined) return withWords(output, `It ran outside the sandbox: ${ran.outside}.`)
      const { text, data } = typeof output === 'string' ? { text: output, data: undefined } : output
      if ((data as { exit?: unknown } | undefined)?.exit === 0) return output
      const { refusalIn } = await import('../safety/rules/wall-refusal.ts')
      const refusal = refusalIn(text, ran.inside)
      if (refusal === undefined) return output
      const { words: refused } = refusal
      parts.state.notes.waiting.push(`${refused}: ${firstLine(effect.command)}`)
      const seat = parts.state.tools.seats.get(name)
      const answer = seat && mayLeave(seat, call) && runs.isNew(effect.command, call) ? await askPerson() : 'unasked'
      if (answer === 'shown')
        return withWords(
          await tool.run(input, { ...given }),
          `The person lets commands read ${refusal.hidden} from now on. The command ran again, in the sandbox.`,
        )
      if (answer === 'once' || answer === 'always') {
        const again = { ...given }
        runs.free(again)
        return withWords(await tool.run(input, again), `${refused}. The person let it run again, outside the sandbox.`)
      }
      return withWords(output, `${refused}. ${advice[answer]}`)

      async function askPerson(): Promise<Consent | 'shown'> {
        const { command } = effect as { command: string }
        const place = refusal!.hidden === undefined ? undefined : showable(refusal!.hidden, parts)
        const rule = `${tool.name}(${escapePattern(withoutBlanks(command))})`
        const grants = 'fault' in parseRule(rule) ? undefined : rule
        const options = consentOptions({
          once: { id: 'once', label: 'Yes, run it once outside the sandbox' },
          always:
            grants === undefined
              ? undefined
              : { id: 'always', label: 'Yes, always run it outside the sandbox in this project', grants },
          no: { id: 'no', label: 'No' },
          others:
            place === undefined
              ? []
              : [{ id: 'shown', label: `Yes, let commands of this project read ${place}, in the sandbox` }],
        })
        const picks = await call.ask(
          {
            about: 'permission',
            text: `${tool.name}: ${refused}. Outside the sandbox it can use your files, your keys and the network.`,
            from: [],
            shows: [{ type: 'command', command, cwd: call.cwd }],
            options,
          },
          call.signal,
        )
        const always = picks?.includes('always') === true && grants !== undefined
        const isShown = picks?.includes('shown') === true && place !== undefined
        const isYes = always || isShown
        const answer: Consent = isYes ? 'always' : !picks ? 'nobody' : picks.includes('once') ? 'once' : 'no'
        const what = isShown ? `read in the sandbox: ${place}` : `outside the sandbox: ${command}`
        const act = { type: 'approval' as const, tool: tool.name, what, answer, rule: always ? grants : undefined }
        // The answer is recorded before the command leaves the sandbox.
        await parts.state.audit.log?.record(defined({ ...act, by: name, project: parts.root, session: parts.session }))
        if (always)
          await parts.project.update((doc) => ({ ...doc, outside: [...new Set([...(doc.outside ?? []), grants])] }))
        if (isShown)
          await parts.project.update((doc) => ({ ...doc, shown: [...new Set([...(doc.shown ?? []), place])] }))
        return isShown ? 'shown' : answer
      }
    },
  }
}

/** Asks whether to keep files from a command that could start programs by themselves; meanwhile they are in the quarantine. */
async function asksToKeep(
  { files }: Quarantined,
  { command, call, name }: { command: string; call: ToolCall; name: string },
  parts: NativeParts,
): Promise<boolean> {
  const seat = parts.state.tools.seats.get(name)
  if (call.signal.aborted || seat?.settings.permissions.mode === 'dontAsk') return false
  const one = files.length === 1
  const picks = await call.ask(
    {
      about: 'permission',
      text: `A command made or changed ${one ? 'a file' : `${files.length} files`} from which an agent, an editor or git could start programs by itself. ${one ? 'It is' : 'They are'} in the quarantine until you say yes.`,
      from: [],
      shows: [
        { type: 'text', text: files.map(onOneLine).join('\n') },
        { type: 'command', command, cwd: call.cwd },
      ],
      options: consentOptions({
        once: { id: 'once', label: one ? 'Yes, keep the file' : 'Yes, keep the files' },
        no: { id: 'no', label: one ? 'No, leave it in the quarantine' : 'No, leave them in the quarantine' },
      }),
      enter: 'no',
    },
    call.signal,
  )
  const answer: Consent = !picks ? 'nobody' : picks.includes('once') ? 'once' : 'no'
  const what = `keep ${files.join(', ')}, left by: ${command}`
  await parts.state.audit.log?.record(
    defined({
      type: 'approval' as const,
      tool: 'bash',
      what,
      answer,
      by: name,
      project: parts.root,
      session: parts.session,
    }),
  )
  return answer === 'once'
}

/** Whether the person may be asked to let a command run outside: an agent that may only read never leaves the wall. */
const mayLeave = ({ settings: { sandbox, permissions }, limits }: NativeSeat, { leash = 'read' }: ToolCall): boolean =>
  leash !== 'read' && limits?.scope === undefined && sandbox.network !== 'none' && permissions.mode !== 'dontAsk'

/** Advice for the model after a refusal. */
const advice = {
  no: 'The person did not let it run outside the sandbox. Go on without it.',
  nobody: 'Nobody was there to let it run outside the sandbox. Go on without it, or say in your answer what you need.',
  unasked: 'Go on without it, or say in your answer what you need.',
}

function withWords(output: ToolOutput, words: string): ToolOutput {
  if (typeof output === 'string') return `${output}\n[${words}]`
  return { ...output, text: `${output.text}\n[${words}]` }
}

const firstLine = (command: string) => command.trim().split('\n')[0]!
