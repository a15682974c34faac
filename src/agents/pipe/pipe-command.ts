import type { Entry } from '../../core/talk/entry.ts'
import type { Dialect, Profile } from '../../core/profile/profile.ts'
import type { Leash, Turn } from '../../core/work/agent.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { TurnTerms } from '../../core/profile/turn-terms.ts'
import { defined } from '../../base/defined.ts'
import { valueFault } from '../../base/option-value.ts'
import { nearestEffort } from '../../core/profile/effort.ts'
import { missedEntries } from '../../core/talk/view.ts'

/**
 * An agent of the settings that runs one process per turn. A `command` alone runs under bash exactly as written; with `args` it becomes
 * an argv; without a command the profile composes one from the leash.
 */
export type PipeSpec = {
  name: string
  command?: string
  args?: readonly string[]
  env?: Record<string, string>
  window: number
  timeoutMs: number
  silenceMs: number
  profile?: Profile
  model?: string | undefined
  /** How hard the CLI's model should think. */
  effort?: Effort | undefined
  metaInstruction?: string
  /** Folders that the person added to the project. */
  folders?: readonly string[]
  /** Whether the agent only plans. */
  plans?: boolean
}

/** The profile that composes the command; undefined if the person wrote the command. */
export function composingProfile(spec: PipeSpec): Profile | undefined {
  return spec.command === undefined ? spec.profile : undefined
}

/** The environment variables of an agent's processes: those of the settings override all others. */
export const environmentOf = (
  { profile, env }: PipeSpec,
  around: Record<string, string | undefined>,
): Record<string, string | undefined> => ({ ...profile?.env, ...around, ...env })

/** The command of a turn; `more` are arguments to add to a command that the profile composes. */
export function pipeArgv(
  spec: PipeSpec,
  { leash, attended = false }: Pick<Turn, 'leash' | 'attended'>,
  resume: string | undefined,
  more = '',
): [string, ...string[]] {
  if (spec.command !== undefined && spec.args) return [spec.command, ...spec.args]
  const composed = composingProfile(spec)?.command({ leash, resume, model: spec.model, attended, plans: spec.plans })
  return ['bash', '-c', spec.command ?? [composed, more].filter(Boolean).join(' ')]
}

/**
 * The arguments that give a CLI access to the added folders, if the profile composes its command; '' if it needs none or has no such
 * option.
 */
export function folderWords(profile: Profile | undefined, folders: readonly string[] = []): string {
  return folders.length === 0 ? '' : (profile?.reaches?.(folders) ?? '')
}

/** The arguments that set a CLI's thinking effort, at the level nearest to the wanted one; '' if it has no option for that. */
export function effortWords(profile: Profile | undefined, effort: Effort | undefined): string {
  const level = levelFor(profile, effort)
  return level === undefined ? '' : profile!.effort!.words(level)
}

const levelFor = (profile: Profile | undefined, effort: Effort | undefined) =>
  effort && profile?.effort && nearestEffort(effort, profile.effort.levels)

/** The terms that a kept process must have for a turn of the agent. */
export const termsOf = ({ profile, model, effort }: PipeSpec, leash: Leash): TurnTerms =>
  defined({ leash, model, effort: levelFor(profile, effort) })

/** The dialect of a turn's output: the dialect of the composed command, or of the person's own command if it requests that dialect. */
export function dialectOf(spec: PipeSpec, leash: Leash, resume: string | undefined): Dialect | undefined {
  const { profile, command, args = [], model, plans } = spec
  if (command === undefined)
    return profile?.dialect?.(defined({ leash, resume, model, effort: levelFor(profile, spec.effort), plans }))
  const own = [command, ...args].join(' ')
  return profile?.speaks(own) ? profile.dialect?.({ command: own }) : undefined
}

/** The key of a thread to resume, the turn that the thread last answered, and the entries that it has not seen. */
type Thread = { key?: string; turn?: string; entries: readonly Entry[] }

/** The thread that a turn continues; without one, the agent gets the whole view. */
export function pipeThread(spec: PipeSpec, history: readonly Entry[], resume: string | undefined): Thread {
  return composingProfile(spec)?.resumes ? resumedThread(spec.name, history, resume) : { entries: history }
}

/**
 * The thread of an agent that can resume: the requested one, or its last one in the log. A key that a CLI could mistake for a flag is
 * ignored: the agent begins a new thread with the whole view.
 */
export function resumedThread(name: string, history: readonly Entry[], resume: string | undefined): Thread {
  const logged = missedEntries(history, name)
  const known = isKey(logged.key) ? logged : { entries: history }
  if (!isKey(resume)) return known
  if (resume === undefined || resume === known.key) return known
  // A requested key is newer than any finished turn: its thread received the view when it began.
  return { key: resume, entries: known.key === undefined ? [] : known.entries }
}

const isKey = (key: string | undefined) => key === undefined || valueFault(key) === undefined
