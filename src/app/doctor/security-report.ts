import type { Profile } from '../../core/work/profile.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { profiles } from '../../profiles/all.ts'
import { redactor } from '../../safety/redaction.ts'
import { sandbox } from '../../safety/sandbox.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { print } from '../../core/io.ts'
import { nativeLeashes } from '../native/native-seat.ts'
import { sandboxWords } from '../native/native-sandbox.ts'
import { profileOf } from '../../settings/agent-settings.ts'

type Finding = { level: 'ok' | 'look' | 'mend'; words: string }

/** What a person should know about who may do what, and who can read what we keep. */
export async function securityReport(io: Io, place: Place, settings: Settings, json: boolean): Promise<number> {
  const findings = [
    ...agentFindings(settings),
    ...(await sandboxFindings(io, settings)),
    ...secretFindings(io, settings),
    ...fileFindings(place.home),
    ...(await projectFindings(io, place)),
  ]
  const marks = { ok: '✓', look: '!', mend: '✗' }
  print(io, json ? JSON.stringify(findings) : findings.map(({ level, words }) => `${marks[level]} ${words}`).join('\n'))
  return findings.some(({ level }) => level === 'mend') ? 1 : 0
}

function agentFindings(settings: Settings): Finding[] {
  return settings.agents.map((agent) => {
    const profile = profileOf(agent)
    const leash = agent.leash ?? settings.leash
    if (agent.kind !== 'native' && agent.command !== undefined) {
      const line = [agent.command, ...(agent.args ?? [])].join(' ')
      return isUnsafe(line, profile)
        ? { level: 'look', words: `${agent.name} runs with a flag that switches its own safety off: ${line}` }
        : { level: 'ok', words: `${agent.name} runs as written, with its own flags: ${line}` }
    }
    const words = agent.kind === 'native' ? nativeLeashes[leash] : profile?.leashes[leash]
    if (words === undefined) return { level: 'look', words: `${agent.name} cannot be held to the leash "${leash}"` }
    return { level: leash === 'all' ? 'look' : 'ok', words: `${agent.name} is on the leash "${leash}": ${words}` }
  })
}

/** Only the commands of our own agent are ours to wall in. */
async function sandboxFindings({ env }: Io, settings: Settings): Promise<Finding[]> {
  if (!settings.agents.some(({ kind }) => kind === 'native')) return []
  const walls = sandbox({ platform: process.platform, env })
  const held = settings.sandbox.enabled && (await walls.none()) === undefined
  return [{ level: held ? 'ok' : 'look', words: (await sandboxWords(settings, walls)).replace(/\.$/, '') }]
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
        ...(agent.kind === 'native' ? [] : [agent.command ?? '', ...(agent.args ?? [])]),
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
async function projectFindings({ clock }: Io, { home, root, cwd }: Place): Promise<Finding[]> {
  const book = new TrustBook(fileStore(home, { clock }), { clock, own: home })
  const { state, files } = await book.of(root, cwd)
  const carried = new Set([...profiles.flatMap(({ projectFiles }) => projectFiles), ...files])
  return [...carried]
    .filter((name) => existsSync(join(root, name)))
    .sort()
    .map((name) => {
      const trusted = state === 'trusted' && files.includes(name)
      const words = trusted
        ? 'is trusted as it is now'
        : 'may start programs or steer an agent: read it before you trust it'
      return { level: trusted ? 'ok' : 'look', words: `${name} comes with this project and ${words}` }
    })
}
