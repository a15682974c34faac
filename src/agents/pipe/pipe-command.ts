import type { Entry } from '../../core/talk/entry.ts'
import type { Dialect, Profile } from '../../core/work/profile.ts'
import type { Leash, Turn } from '../../core/work/agent.ts'
import { missed } from '../../core/talk/view.ts'

/**
 * A `command` alone runs under bash exactly as written; with `args` it is an argv;
 * left out, the profile composes it from the leash.
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
  model?: string
  metaInstruction?: string
}

export type Seat = { leash: Leash; resume?: string | undefined }

/** The profile that composes the command, when nobody wrote one. */
export function composingProfile(spec: PipeSpec): Profile | undefined {
  return spec.command === undefined ? spec.profile : undefined
}

export function pipeArgv(
  spec: PipeSpec,
  { leash, attended = false }: Pick<Turn, 'leash' | 'attended'>,
  resume: string | undefined,
): [string, ...string[]] {
  if (spec.command !== undefined && spec.args) return [spec.command, ...spec.args]
  const composed = composingProfile(spec)?.command({ ...composedFor(spec, leash, resume), attended })
  return ['bash', '-c', spec.command ?? composed ?? '']
}

/** A dialect is spoken by what the profile composes, and by an own command that asks for it. */
export function dialectOf(spec: PipeSpec, leash: Leash, resume: string | undefined): Dialect | undefined {
  const { profile, command, args = [] } = spec
  if (command === undefined) return profile?.dialect?.(composedFor(spec, leash, resume))
  const own = [command, ...args].join(' ')
  return profile?.speaks(own) ? profile.dialect?.({ command: own }) : undefined
}

const composedFor = ({ model }: PipeSpec, leash: Leash, resume: string | undefined) => ({
  leash,
  ...(resume === undefined ? {} : { resume }),
  ...(model === undefined ? {} : { model }),
})

export type Thread = { key?: string; entries: readonly Entry[] }

/** The thread to go on with, and what it has not seen; without a thread, the whole view. */
export function pipeThread(spec: PipeSpec, history: readonly Entry[], resume: string | undefined): Thread {
  return composingProfile(spec)?.resumes ? resumedThread(spec.name, history, resume) : { entries: history }
}

/** The same for an agent that can resume. */
export function resumedThread(name: string, history: readonly Entry[], resume: string | undefined): Thread {
  const known = missed(history, name)
  if (resume === undefined || resume === known.key) return known
  // A key that is handed in is newer than any turn that ended: its thread was told the view when it began.
  return { key: resume, entries: known.key === undefined ? [] : known.entries }
}
