import type { Profile } from '../core/screen/profile.ts'
import type { Io } from './io.ts'
import type { Place } from './place.ts'
import type { Settings } from './settings/settings.ts'
import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { profiles } from '../profiles/all.ts'
import { redactor } from '../safety/redaction.ts'
import { print } from './io.ts'
import { profileOf } from './roster.ts'

type Finding = { level: 'ok' | 'look' | 'mend'; words: string }

/** What a person should know about who may do what, and who can read what we keep. */
export function securityReport(io: Io, place: Place, settings: Settings, json: boolean): number {
  const findings = [
    ...agentFindings(settings),
    ...secretFindings(io, settings),
    ...fileFindings(place.home),
    ...projectFindings(place),
  ]
  const marks = { ok: '✓', look: '!', mend: '✗' }
  print(io, json ? JSON.stringify(findings) : findings.map(({ level, words }) => `${marks[level]} ${words}`).join('\n'))
  return findings.some(({ level }) => level === 'mend') ? 1 : 0
}

function agentFindings(settings: Settings): Finding[] {
  return settings.agents.map((agent) => {
    const profile = profileOf(agent)
    const leash = agent.leash ?? settings.leash
    if (agent.command !== undefined) {
      const line = [agent.command, ...(agent.args ?? [])].join(' ')
      return isUnsafe(line, profile)
        ? { level: 'look', words: `${agent.name} runs with a flag that switches its own safety off: ${line}` }
        : { level: 'ok', words: `${agent.name} runs as written, with its own flags: ${line}` }
    }
    const words = profile?.leashes[leash]
    if (words === undefined) return { level: 'look', words: `${agent.name} cannot be held to the leash "${leash}"` }
    return { level: leash === 'all' ? 'look' : 'ok', words: `${agent.name} is on the leash "${leash}": ${words}` }
  })
}

/** A program nobody knows is taken for one that understands every such flag. */
function isUnsafe(command: string, profile: Profile | undefined): boolean {
  return (profile ? [profile] : profiles).some(({ unsafe }) => unsafe?.test(command))
}

/** Keys belong into the environment: a settings file is copied, shown and committed. */
function secretFindings(io: Io, settings: Settings): Finding[] {
  const mask = redactor(io.env)
  return settings.agents
    .filter((agent) =>
      [
        agent.command ?? '',
        ...(agent.args ?? []),
        ...Object.entries(agent.env ?? {}).map(([key, value]) => `${key}=${value}`),
      ].some((text) => mask(text) !== text),
    )
    .map((agent) => ({
      level: 'mend',
      words: `${agent.name} has what looks like a key in the settings file; put it into the environment instead`,
    }))
}

function fileFindings(home: string): Finding[] {
  return [home, join(home, 'settings.json'), join(home, 'credentials.json'), join(home, 'projects')]
    .filter(existsSync)
    .map((path) => {
      const others = lstatSync(path).mode & 0o077
      return others === 0
        ? { level: 'ok', words: `${path} can be read by nobody else` }
        : { level: 'mend', words: `${path} is open to others; close it with: chmod go-rwx ${path}` }
    })
}

/** What came with the repository and could steer an agent: the CLIs themselves may use it without asking. */
function projectFindings(place: Place): Finding[] {
  const carried = new Set(['.termaite/settings.json', ...profiles.flatMap(({ projectFiles }) => projectFiles)])
  return [...carried]
    .filter((name) => existsSync(join(place.root, name)))
    .map((name) => ({
      level: 'look',
      words: `${name} comes with this project and may start programs or steer an agent: read it before you trust it`,
    }))
}
