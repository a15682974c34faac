import type { Parsed } from '../../arguments/cli-command.ts'
import type { SecurityFinding } from '../../../people/doctor/tried-promises.ts'
import type { Io } from '../../../core/io.ts'
import { print, say } from '../../../core/io.ts'
import { wordWrapped } from '../../../base/text/word-wrap.ts'
import { ledgerDisk } from '../../../desk/ledger-disk.ts'
import { placeOf } from '../../../home/place.ts'
import { agentsToExamine, examine, fileFaults } from '../../../people/doctor/examination.ts'
import { askedWords, briefReport, fullReport } from '../../../people/doctor/examination-report.ts'
import { securityFindings } from '../../../people/doctor/security-report.ts'
import { readSettings } from '../../../settings/settings.ts'

export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  let taken = 0
  const tell = (text: string) => {
    const shown = wordWrapped(`termaite: ${text}`, io.err.columns)
    taken += shown.split('\n').length
    say(io, shown)
  }
  settings.warnings.forEach(tell)
  if (values.security) return printFindings(io, await securityFindings(io, place, settings), values.json === true)
  const { builtInNames } = await import('../../../desk/slash/slash-commands.ts')
  const faults = await fileFaults(io, place, builtInNames())
  faults.forEach(tell)
  const disk = await ledgerDisk(io, place.home, settings)
  if (disk !== undefined) tell(disk)
  const wanted = agentsToExamine(settings, words[0])
  const quick = values.quick === true
  if (!quick && !values.json) say(io, `${askedWords(wanted)}; --quick skips this.`)
  const found = await examine({ io, place, settings, quick, tell }, wanted)
  // Somebody who names an agent wants to know everything about it, which fits on a screen.
  const isFull = values.verbose === true || words.length > 0
  const { columns } = io.out
  const more = 'termaite doctor --verbose'
  if (values.json) print(io, JSON.stringify(found.checkups))
  else if (isFull) print(io, wordWrapped(fullReport(found), columns))
  else print(io, briefReport(found, { taken, more, ...(columns === undefined ? {} : { columns }) }))
  return found.checkups.some(({ works }) => works) ? 0 : 1
}

const marks = { ok: '✓', look: '!', mend: '✗' }

function printFindings(io: Io, findings: readonly SecurityFinding[], json: boolean): number {
  const lines = findings.map(({ level, words }) => `${marks[level]} ${words}`)
  print(io, json ? JSON.stringify(findings) : lines.join('\n'))
  return findings.some(({ level }) => level === 'mend') ? 1 : 0
}
