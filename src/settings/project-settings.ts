import type { Leash } from '../core/work/agent.ts'
import type { Permissions } from './permission-settings.ts'
import type { ProjectSettings } from './settings-schema.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Diagnostics } from '../languages/language.ts'
import { join } from 'node:path'
import { readUntrustedFile } from '../safety/untrusted-file.ts'
import { tighter } from '../core/work/agent.ts'
import { isWithin } from '../base/files/real-path.ts'
import { diagnosticsOf } from '../languages/language.ts'
import { SettingsError } from './fault.ts'
import { checkFile, problemsIn } from './settings-file.ts'
import { tightenPermissions } from './permission-settings.ts'
import { projectFile, projectForm } from './settings-schema.ts'
import { vendorOf } from './agent-settings.ts'

const longest = 1024 * 1024

/** Reads a project's settings file. termaite's home is not read as a project: the user's own settings are there. */
export async function projectSettings(root: string, home: string): Promise<ProjectSettings> {
  const file = join(root, projectFile)
  if (isWithin(home, file)) return {}
  const body = readUntrustedFile(file, longest, root)
  if (body === undefined) return {}
  if (typeof body === 'string') throw new SettingsError([{ file, key: '', words: `cannot be read: ${body}` }])
  return (await checkFile(file, body.text, (value) => problemsIn(projectForm, value))) as ProjectSettings
}

/** The settings that a project can narrow. */
type Narrowable = {
  leash: Leash
  agents: AgentSettings[]
  sharing: 'all' | 'ask'
  permissions: Permissions
  sandbox: { network: 'rule' | 'all' | 'none' }
  diagnostics: Diagnostics
  crew: { setup?: string }
  additionalFolders: readonly string[]
}

/** Narrows the settings by a project's file. With `leashed` false the leash stays, because the user gave one for this run. */
export function narrowSettings<T extends Narrowable>(settings: T, said: ProjectSettings, leashed = true): T {
  const { leash = 'all', permissions = {}, sandbox, sharing } = said
  const network = sandbox?.network === 'none' || settings.sandbox.network === 'none' ? 'none' : sandbox?.network
  return {
    ...settings,
    leash: leashed ? tighter(settings.leash, leash) : settings.leash,
    agents: settings.agents.map((agent) => ({ ...agent, ...narrowAgent(agent, said, settings.leash, leashed) })),
    sharing: sharing === 'ask' ? sharing : settings.sharing,
    permissions: tightenPermissions(settings.permissions, permissions),
    sandbox: { ...settings.sandbox, ...(network === undefined ? {} : { network }) },
    diagnostics: diagnosticsOf(said.diagnostics, settings.diagnostics),
    // The person trusted the folder while its settings listed these added folders; each of them is checked again before it is opened.
    additionalFolders: [...settings.additionalFolders, ...(said.additionalFolders ?? [])],
    // The setup command is not a restriction: it comes from the project, which is trusted here.
    crew: { ...settings.crew, ...said.crew },
  }
}

function narrowAgent(
  agent: AgentSettings,
  said: ProjectSettings,
  usual: Leash,
  leashed: boolean,
): Pick<AgentSettings, 'enabled' | 'leash' | 'wall'> {
  const own = Array.isArray(said.agents) ? { enabled: said.agents.includes(agent.name) } : said.agents?.[agent.name]
  const out = own?.enabled === false || !isAllowedVendor(agent, said.vendors)
  const leash = [said.leash, own?.leash].reduce<Leash>((now, more) => tighter(now, more ?? 'all'), agent.leash ?? usual)
  return {
    ...(out ? { enabled: false } : {}),
    ...(leashed && leash !== usual ? { leash } : {}),
    ...(own && 'wall' in own && own.wall === true ? { wall: true } : {}),
  }
}

/** Whether the project allows the agent's vendor. It never allows an unknown vendor. */
function isAllowedVendor(agent: AgentSettings, vendors: readonly string[] | undefined): boolean {
  const vendor = vendorOf(agent)?.toLowerCase()
  return vendors?.some((one) => one.toLowerCase() === vendor) ?? true
}
