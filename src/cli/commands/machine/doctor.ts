import type { Doc } from '../../../core/talk/store.ts'
import type { Health } from '../../../turn/rotation/health.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Checkup } from '../../../people/doctor/agent-checkup.ts'
import type { SecurityFinding } from '../../../people/doctor/tried-promises.ts'
import type { Io } from '../../../core/io.ts'
import type { Settings } from '../../../settings/settings.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { afterSuccess, healthDoc } from '../../../turn/rotation/health.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { checkup } from '../../../people/doctor/agent-checkup.ts'
import { print, say, UsageError, voiceOf } from '../../../core/io.ts'
import type { Place } from '../../../home/place.ts'
import { placeOf } from '../../../home/place.ts'
import { languageFindings, languageLines } from '../../../people/doctor/language-servers.ts'
import { TrustBook } from '../../../safety/trust/folder-trust.ts'
import { sandboxLines, securityFindings } from '../../../people/doctor/security-report.ts'
import { noAgentWords } from '../../../settings/enabled-agents.ts'
import { readSettings } from '../../../settings/settings.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  for (const warning of settings.warnings) say(io, `termaite: ${warning}`)
  if (values.security) return printFindings(io, await securityFindings(io, place, settings), values.json === true)
  for (const words of await fileFaults(io, place)) say(io, `termaite: ${words}`)
  const disk = await ledgerDisk(io, place, settings)
  if (disk !== undefined) say(io, `termaite: ${disk}`)
  const { agents } = settings
  if (agents.length === 0) throw new UsageError(noAgentWords(settings))
  const wanted = words[0] === undefined ? agents : agents.filter(({ name }) => name === words[0])
  if (wanted.length === 0)
    throw new UsageError(`there is no agent "${words[0]}"; configured: ${agents.map(({ name }) => name).join(', ')}.`)
  const quick = values.quick === true
  const doc = healthDoc(fileStore(place.home, voiceOf(io)))
  const health = await orSay(io, doc.read())
  if (!quick && !values.json) say(io, `Asking ${whom(wanted)}; --quick skips this.`)
  const parts = { io, place, settings, quick, health }
  const checkups = await Promise.all(wanted.map((agent) => checkup(parts, agent)))
  if (health) await orSay(io, readmit(doc, health, checkups))
  print(io, values.json ? JSON.stringify(checkups) : checkups.map(report).join('\n\n'))
  if (!values.json && wanted.some(({ kind }) => kind === 'native'))
    print(io, ['', languageTitle, ...languageLines(await languageFindings(io, place, settings))].join('\n'))
  const sandbox = values.json ? [] : await sandboxLines(io, place, settings, wanted)
  if (sandbox.length > 0) print(io, ['', sandboxTitle, ...sandbox.map((line) => `    ${line}`)].join('\n'))
  return checkups.some(({ works }) => works) ? 0 : 1
}

const sandboxTitle = 'Sandbox on this machine:'

const languageTitle = 'Language servers, which tell termaite’s own agent the errors after an edit:'

/** The faults in files that define commands and subagents. */
async function fileFaults(io: Io, place: Place): Promise<string[]> {
  const [{ definitionFaults }, { builtInNames }] = await Promise.all([
    import('../../../people/commands/definition-faults.ts'),
    import('../../../desk/slash/slash-commands.ts'),
  ])
  const book = new TrustBook(fileStore(place.home, voiceOf(io)), { clock: io.clock, own: place.home })
  const trusted = (await book.of(place.root, place.cwd)).state === 'trusted'
  return definitionFaults({ ...place, trusted }, builtInNames())
}

/** Warns that the disk of this home's ledger is nearly full, or that the ledger in the settings cannot be used. */
async function ledgerDisk(io: Io, { home }: Place, settings: Settings): Promise<string | undefined> {
  const [{ diskWarning }, { ledgerPlace }] = await Promise.all([
    import('../../../hub/server/ledger-desk.ts'),
    import('../../../hub/server/open-ledger.ts'),
  ])
  try {
    return diskWarning(await ledgerPlace(io, home, settings))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return error.message
  }
}

const marks = { ok: '✓', look: '!', mend: '✗' }

function printFindings(io: Io, findings: readonly SecurityFinding[], json: boolean): number {
  const lines = findings.map(({ level, words }) => `${marks[level]} ${words}`)
  print(io, json ? JSON.stringify(findings) : lines.join('\n'))
  return findings.some(({ level }) => level === 'mend') ? 1 : 0
}

const whom = (agents: readonly { name: string }[]) =>
  agents.length === 1 ? `${agents[0]!.name} for one word` : `${agents.length} agents for one word each`

/** Clears the failures of agents that just answered, so that the rotation uses them again. */
async function readmit(doc: Doc<Health>, known: Health, checkups: readonly Checkup[]): Promise<void> {
  const back = (health: Health) =>
    checkups
      .filter(({ answers }) => answers === true)
      .reduce((rest, { name }) => afterSuccess(rest, name, false), health)
  if (back(known) !== known) await doc.update(back)
}

/** Reports a broken health file as a warning, so that the rest of the report is still printed. */
async function orSay<T>(io: Io, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    say(io, `termaite: ${error.message}`)
    return undefined
  }
}

function report(checkup: Checkup): string {
  const rows = [
    ['installed', `${checkup.installed || 'no'}${checkup.version ? ` (${checkup.version})` : ''}`],
    ['logged in', checkup.loggedIn === 'unknown' ? 'not known' : checkup.loggedIn ? 'yes' : 'no'],
    ...(checkup.key ? [['key', checkup.key]] : []),
    ['answers', checkup.answers === 'not asked' ? 'not asked' : checkup.answers ? 'yes' : `no: ${checkup.said ?? ''}`],
    ['quota', checkup.quota],
    ['MCP', checkup.mcp],
    ['may do', checkup.mayDo],
    ...(checkup.next ? [['next', checkup.next]] : []),
  ]
  const mark = !checkup.enabled ? '○' : checkup.works ? '✓' : checkup.parked ? '!' : '✗'
  return [
    `${mark} ${checkup.name}${checkup.enabled ? '' : ' (switched off)'}`,
    ...rows.map(([name, words]) => `    ${name!.padEnd(10)} ${words}`),
  ].join('\n')
}
