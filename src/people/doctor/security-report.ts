import type { Profile } from '../../core/profile/profile.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { SecurityFinding } from './tried-promises.ts'
import type { Settings } from '../../settings/settings.ts'
import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { allProfiles } from '../../profiles/all.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { terminalText } from '../../base/text/ansi.ts'
import { borderOf } from '../../border/border.ts'
import type { Wall } from '../../safety/wall/wall.ts'
import { wallOf } from '../../safety/wall/wall.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { nativeLeashes } from '../../native/native-seat.ts'
import { isWalled } from '../../native/command-wall.ts'
import { machineWords, sandboxWords } from '../../native/wall-words.ts'
import { machineWall, needsWall } from '../../native/agent-wall.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { enabledAgents, leashOf } from '../../settings/enabled-agents.ts'

/** Collects what a person should know: what each agent may do, and who can read termaite's files. */
export async function securityFindings(io: Io, place: Place, settings: Settings): Promise<SecurityFinding[]> {
  const wall = await machineWall(io.env, place.cwd)
  return [
    ...(await machineFindings(io, wall)),
    ...agentFindings(settings),
    ...(await wallFindings(io, place, settings)),
    ...(await sandboxFindings(io, place, settings)),
    ...secretFindings(io, place, settings),
    ...fileFindings(place.home),
    ...(await projectFindings(io, place)),
  ]
}

/** Says which promises the sandbox of this machine keeps; without a sandbox, the reason and what helps. */
async function machineFindings(io: Io, wall: Wall): Promise<SecurityFinding[]> {
  const { triedPromises } = await import('./tried-promises.ts')
  const none = await wall.none()
  const first: SecurityFinding =
    none === undefined
      ? { level: 'ok', words: 'this machine has a sandbox; each promise was tried in it just now' }
      : { level: 'look', words: `this machine has no sandbox: ${none}` }
  return [first, ...(await triedPromises(io, wall))]
}

function agentFindings(settings: Settings): SecurityFinding[] {
  return settings.agents.map((agent) => {
    const profile = profileOf(agent)
    const leash = leashOf(settings, agent)
    if (agent.kind !== 'native' && agent.command !== undefined) {
      const line = [agent.command, ...(agent.args ?? [])].join(' ')
      return isUnsafe(line, profile)
        ? { level: 'look', words: `${agent.name} runs with a flag that switches its own safety off: ${line}` }
        : { level: 'ok', words: `${agent.name} runs as written, with its own flags: ${line}` }
    }
    const words = agent.kind === 'native' ? nativeLeashes[leash] : profile?.leashes[leash]
    if (words === undefined)
      return { level: 'look', words: `${agent.name} cannot be restricted to the leash "${leash}"` }
    return { level: leash === 'all' ? 'look' : 'ok', words: `${agent.name} is on the leash "${leash}": ${words}` }
  })
}

/** Says which CLIs run behind a wall. If a CLI brings its own sandbox, that sandbox is inside the wall. */
async function wallFindings({ env }: Io, { cwd }: Place, settings: Settings): Promise<SecurityFinding[]> {
  const clis = enabledAgents(settings).filter(({ kind }) => kind !== 'native')
  const named = (agents: readonly { name: string }[]) => agents.map(({ name }) => name).join(', ')
  const always = clis.filter((agent) => needsWall(agent, { leash: leashOf(settings, agent) }))
  const advising = clis.filter((agent) => !always.includes(agent) && needsWall(agent, { leash: 'read', advises: true }))
  const never = clis.filter((agent) => !always.includes(agent) && !advising.includes(agent))
  const none = await (await machineWall(env, cwd)).none()
  if (none !== undefined && clis.length > 0)
    return [
      {
        level: 'look',
        words: `without a sandbox, so only their own flags restrict them: ${named(clis)} (${none})`,
      },
    ]
  const finding = (level: SecurityFinding['level'], words: string, agents: readonly { name: string }[]) =>
    agents.length === 0 ? [] : [{ level, words: `${words}: ${named(agents)}` }]
  return [
    ...finding('ok', 'always in a sandbox', always),
    ...finding('ok', 'in a sandbox when only asked for advice; in other turns their own flags restrict them', advising),
    ...finding('look', 'without a sandbox, as the settings say, so only their own flags restrict them', never),
  ]
}

/**
 * Explains the effect of this machine's sandbox on these agents; without a sandbox, the reason, what helps, and what protects
 * instead.
 */
export async function sandboxLines(
  { env }: Io,
  { cwd }: Place,
  settings: Settings,
  agents: Settings['agents'],
): Promise<string[]> {
  const own = agents.filter(({ kind }) => kind === 'native')
  const leashes = [...new Set(own.map((agent) => leashOf(settings, agent)))]
  return machineWords(settings, await machineWall(env, cwd), { leashes, others: own.length < agents.length })
}

/** The setting `sandbox` applies only to the commands of our own agent. */
async function sandboxFindings({ env }: Io, { root }: Place, settings: Settings): Promise<SecurityFinding[]> {
  const own = settings.agents.filter(({ kind }) => kind === 'native')
  const leashes = [...new Set(own.map((agent) => leashOf(settings, agent)))]
  const wall = wallOf({ platform: process.platform, env: withoutProject(env, root) })
  return Promise.all(
    leashes.map(async (leash) => {
      const held = isWalled({ settings }, leash) && (await wall.none()) === undefined
      const words = (await sandboxWords(settings, wall, leash)).replace(/\.$/, '')
      return { level: held ? 'ok' : 'look', words: leashes.length > 1 ? `leash "${leash}": ${words}` : words } as const
    }),
  )
}

/** Whether a command has a flag that switches off a CLI's safety; an unknown program is checked for the flags of every CLI. */
function isUnsafe(command: string, profile: Profile | undefined): boolean {
  return (profile ? [profile] : allProfiles()).some(({ unsafe }) => unsafe?.test(command))
}

/** Finds keys in the settings file, which gets copied, shown and committed: keys belong in the environment. */
function secretFindings({ env }: Io, { home }: Place, settings: Settings): SecurityFinding[] {
  const mask = borderOf(env, home).toward('export')
  return settings.agents
    .filter((agent) =>
      [
        ...(agent.kind === 'native' ? [] : [agent.command ?? '', ...(agent.args ?? [])]),
        ...Object.entries(agent.env ?? {}).map(([key, value]) => `${key}=${value}`),
      ].some((text) => mask(text) !== text),
    )
    .map((agent) => ({
      level: 'mend',
      words: `the settings of ${agent.name} hold what looks like a key; put it into the environment instead`,
    }))
}

function fileFindings(home: string): SecurityFinding[] {
  return [home, join(home, 'settings.json'), join(home, 'credentials.json'), join(home, 'projects')]
    .filter(existsSync)
    .map((path) => {
      const others = lstatSync(path).mode & 0o077
      return others === 0
        ? { level: 'ok', words: `no other user can read ${path}` }
        : { level: 'mend', words: `other users can read ${path}; close it with: chmod go-rwx ${path}` }
    })
}

/** Lists files of the repository that could steer an agent: the CLIs themselves may use them without asking. */
async function projectFindings({ clock }: Io, { home, root, cwd }: Place): Promise<SecurityFinding[]> {
  const book = new TrustBook(fileStore(home, { clock }), { clock, own: home })
  const { state, files } = await book.of(root, cwd)
  // A folder of settings is listed by its files.
  const isListed = (name: string) => files.some((file) => file.startsWith(`${name}/`))
  const named = allProfiles().flatMap(({ projectFiles }) => projectFiles)
  const carried = new Set([...named.filter((name) => !isListed(name)), ...files])
  return [...carried]
    .filter((name) => existsSync(join(root, name)))
    .sort()
    .map((name) => {
      const trusted = state === 'trusted' && files.includes(name)
      const words = trusted
        ? 'is trusted as it is now'
        : 'may start programs or steer an agent: read it before you trust it'
      return { level: trusted ? 'ok' : 'look', words: `${terminalText(name)} comes with this project and ${words}` }
    })
}
