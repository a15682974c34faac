import type { Io } from '../../../core/io.ts'
import type { ArchiveCounts, LedgerStatus, TakenOver } from '../../../hub/model/ledger-archive.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { sizeWords } from '../../../base/text/size-words.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import {
  backUpLedger,
  importLedger,
  ledgerStatus,
  migrateLedger,
  restoreLedger,
  rowWords,
} from '../../../hub/server/ledger-desk.ts'
import { ledgerPlace, ledgerWords } from '../../../hub/server/open-ledger.ts'
import { LedgerAway } from '../../../hub/model/ledger-away.ts'
import { placeOf } from '../../../home/place.ts'
import { confirm } from '../../../questions/terminal-questions.ts'
import { readSettings } from '../../../settings/settings.ts'

/** The words after `termaite hub` that concern the ledger as a whole. */
export const ledgerVerbs = ['status', 'migrate', 'backup', 'restore', 'import'] as const

export const isLedgerVerb = (word: string): word is (typeof ledgerVerbs)[number] =>
  (ledgerVerbs as readonly string[]).includes(word)

/** The file argument of each verb. */
const files: Partial<Record<(typeof ledgerVerbs)[number], string>> = {
  backup: 'the file for the backup',
  restore: 'the file with the backup',
  import: 'the file of a ledger, such as ~/.termaite/hub.db',
}

type Call = { verb: (typeof ledgerVerbs)[number]; values: Parsed['values']; words: readonly string[] }

export async function runLedger(io: Io, call: Call): Promise<number> {
  try {
    return await run(io, call)
  } catch (error) {
    throw error instanceof LedgerAway ? new UsageError(error.message, 1) : error
  }
}

async function run(io: Io, { verb, values, words }: Call): Promise<number> {
  const { home } = placeOf(io)
  const settings = await readSettings({ home }, { env: io.env })
  const named = typeof values.ledger === 'string' ? values.ledger : undefined
  const place = await ledgerPlace(io, home, settings, named)
  const json = values.json === true
  const wanted = files[verb]
  const [file, ...more] = words
  if (wanted === undefined && file !== undefined)
    throw new UsageError(`hub ${verb} takes no words, but found "${file}".`)
  if (more.length > 0) throw new UsageError(`hub ${verb} takes ${wanted}, but found "${words.join(' ')}".`)
  if (wanted !== undefined && file === undefined) throw new UsageError(`hub ${verb}: ${wanted} is missing.`)
  if (values.replace === true && verb !== 'restore') throw new UsageError(`--replace is for hub restore, not ${verb}.`)
  const tell = (value: object, sentence: string) => (json ? print(io, JSON.stringify(value)) : say(io, sentence))

  if (verb === 'status') {
    const status = await ledgerStatus(io, place)
    if (json) print(io, JSON.stringify(status))
    else showStatus(io, status)
    return 0
  }
  if (verb === 'migrate') {
    const report = await migrateLedger(io, place)
    const made = report.made.map((name) => `  ${name}`).join('\n')
    const sentence =
      report.made.length === 0
        ? `The tables of ${ledgerWords(place)} are up to date.`
        : `The tables of ${ledgerWords(place)} went from version ${report.from} to ${report.to}:\n${made}`
    tell(report, sentence)
    return 0
  }
  if (verb === 'backup') {
    const backup = await backUpLedger(io, place, file!)
    tell(
      backup,
      `Wrote ${rowWords(backup.rows)} to ${backup.file} (${sizeWords(backup.bytes)}). Only you can read the file.`,
    )
    return 0
  }
  if (verb === 'restore') {
    const agree = (question: string) => confirm(io, question, values.yes === true)
    const taken = await restoreLedger(io, place, { file: file!, replace: values.replace === true, agree })
    if (!taken) {
      say(io, 'Nothing was changed.')
      return 1
    }
    tell(taken, `Restored ${rowWords(taken.taken)}. Browsers have to sign in again.`)
    return 0
  }
  const taken = await importLedger(io, place, file!)
  tell(taken, importWords(taken))
  return 0
}

function importWords({ taken, there }: TakenOver): string {
  const count = (counts: ArchiveCounts) => Object.values(counts).reduce((sum, each) => sum + each, 0)
  const before = count(there) > 0 ? ` ${rowWords(there)} were there already and stay as they are.` : ''
  return `Took over ${rowWords(taken)}.${before}${count(taken) > 0 ? ' Browsers have to sign in again.' : ''}`
}

function showStatus(io: Io, status: LedgerStatus): void {
  const { ledger, schema, newest, bytes, free, tasks, agents, keys, hubs, problems } = status
  const now = io.clock.now()
  const lines = [
    `Ledger: ${ledger}`,
    ...(newest > 0 ? [`Schema: ${schema}${schema === newest ? '' : ` (newest: ${newest})`}`] : []),
    `Size: ${sizeWords(bytes)}${free === undefined ? '' : `, ${sizeWords(free)} free on its disk`}`,
    ...(tasks === undefined ? [] : [`Tasks: ${stateWords(tasks)}`]),
    ...(agents === undefined ? [] : [`Agents: ${agents}`]),
    ...(keys === undefined ? [] : [`Keys: ${keys}`]),
    ...hubs.map(({ host, since }) => `Hub: on ${host}, since ${localTimeFrom(now, since)}`),
    ...problems,
  ]
  print(io, lines.join('\n'))
}

const stateWords = (tasks: NonNullable<LedgerStatus['tasks']>) =>
  tasks.length === 0 ? 'none' : tasks.map(({ state, count }) => `${groupDigits(count)} ${state}`).join(', ')
