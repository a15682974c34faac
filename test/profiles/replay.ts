import type { Ended, Profile, Step } from '../../src/core/screen/profile.ts'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

export type Recording = { args: string; ended: Ended }

export function recorded(cli: string): Record<string, Recording> {
  const files = readdirSync(join(folder, cli)).filter((file) => file.endsWith('.json'))
  return Object.fromEntries(files.map((file) => [file.slice(0, -'.json'.length), recording(cli, file)]))
}

function recording(cli: string, file: string): Recording {
  const { args, code, out, err } = JSON.parse(readFileSync(join(folder, cli, file), 'utf8'))
  return { args, ended: { out, err, ...(code === null ? {} : { code }), now } }
}

/** All that a dialect makes of a recorded run. */
export function replay(profile: Profile, { ended }: Recording, resume?: string): Step[] {
  const dialect = profile.dialect!(resume)
  const lines = ended.out.split('\n').filter((line) => line.trim() !== '')
  return [...lines.flatMap((line) => dialect.line(line)), ...dialect.end(ended)]
}

/** What each recorded run of a CLI means, whole: written by hand, held by the contract of profiles. */
export function meanings(cli: string): Record<string, Step[]> {
  return JSON.parse(readFileSync(join(folder, '..', 'meanings', `${cli}.json`), 'utf8'))
}

/** The kind a profile reads from the last words of a run without a dialect. */
export function kindOf(profile: Profile, ended: Partial<Ended>): string | undefined {
  return profile.failure({ out: '', err: '', code: 1, now, ...ended })?.kind
}
