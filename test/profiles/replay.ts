import type { Ended, Profile, Step } from '../../src/core/profile/profile.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { failed as failure } from '../../src/core/talk/outcome.ts'

const folder = join(import.meta.dirname, '..', 'fixtures', 'recorded')

/** Noon of the day the CLIs were recorded. */
export const now = Date.parse('2026-11-15T12:00:00Z')

/** The first id of every recording, which is its thread. */
export const key = '00000000-0000-4000-8000-000000000001'
export const thread: Step = { type: 'thread', key }

export const failed = (kind: FailureKind, message: string, retryAt?: number): Step => ({
  type: 'end',
  outcome: failure(kind, message, retryAt),
})

/** Without a leash it is a run of a command that nobody composed, or of a time before it was recorded. */
export type Recording = { args: string; leash?: Leash; picks?: string[][]; ended: Ended }

export function recorded(cli: string): Record<string, Recording> {
  const files = readdirSync(join(folder, cli)).filter((file) => file.endsWith('.json'))
  return Object.fromEntries(files.map((file) => [file.slice(0, -'.json'.length), recording(cli, file)]))
}

/** As the pipe agent has it: without escape sequences. */
function recording(cli: string, file: string): Recording {
  const { args, leash, picks = [], code, out, err } = JSON.parse(readFileSync(join(folder, cli, file), 'utf8'))
  return { args, leash, picks, ended: { out, err: stripAnsi(err), ...(code === null ? {} : { code }), now } }
}

/** A step as it can be written down: the reply to a question is what was said to it. */
export type Told = Exclude<Step, { type: 'ask' }> | (Omit<Extract<Step, { type: 'ask' }>, 'reply'> & { reply: string })

/** All that a dialect makes of a recorded run. */
export function replay(profile: Profile, { args, leash, picks = [], ended }: Recording, resume?: string): Told[] {
  const thread = resume === undefined ? {} : { resume }
  const dialect = profile.dialect!(leash ? { leash, ...thread } : { command: args, ...thread })
  const answers = [...picks]
  const told = (step: Step): Told => (step.type === 'ask' ? { ...step, reply: step.reply(answers.shift()) } : step)
  dialect.open('Say hello.\n')
  const lines = ended.out.split('\n').filter((line) => line.trim() !== '')
  return [...lines.flatMap((line) => dialect.line(line).map(told)), ...dialect.end(ended).map(told)]
}

/** The meaning of each recorded run of a CLI, whole: written by hand, held by the contract of profiles. */
export function meanings(cli: string): Record<string, Told[]> {
  return JSON.parse(readFileSync(join(folder, '..', 'meanings', `${cli}.json`), 'utf8'))
}

/** The kind a profile reads from the last words of a run without a dialect. */
export function kindOf(profile: Profile, ended: Partial<Ended>): string | undefined {
  return profile.failure({ out: '', err: '', code: 1, now, ...ended })?.kind
}
