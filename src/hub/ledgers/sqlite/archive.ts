import type { HubLedger } from '../../model/hub-ledger.ts'
import type { ArchiveRow, LedgerArchive, TakenOver } from '../../model/ledger-archive.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { StoreVoice } from '../../../store/set-aside.ts'
import type { SqliteLedger } from './hub-ledger.ts'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { defined } from '../../../base/defined.ts'
import { randomName } from '../../../base/id.ts'
import { syncFolder } from '../../../base/files/files.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { besideDatabase } from '../../../store/set-aside.ts'
import { isDamaged, openDatabase } from '../../../store/sqlite.ts'
import { storeError } from '../../../store/store-error.ts'
import { isEmptyLedger, ledgerRows, takeRows } from '../ledger-rows.ts'
import { fileHubLedger, textsEnding } from './hub-ledger.ts'

const endings = [...besideDatabase, textsEnding]

type SqliteArchiveParts = StoreVoice & {
  /** The folder of the long texts, if it is not beside the ledger. */
  texts?: string
  /** Returns a function that converts a task of an older termaite to today's format. */
  adopt?(ledger: HubLedger): (task: Task) => Promise<Task>
}

/** Opens a ledger in a file to be read or written as a whole. Throws `LedgerTaken` while a hub has it open. */
export async function sqliteArchive(path: string, parts: SqliteArchiveParts): Promise<LedgerArchive> {
  if (existsSync(path)) checkFile(path)
  const ledger = fileHubLedger(path, defined({ clock: parts.clock, texts: parts.texts }))
  const change = parts.adopt?.(ledger)
  if (change) await ledger.adopt(change)
  return new SqliteArchive(path, parts, ledger)
}

/** Throws if a ledger is damaged: a hub would set it aside and begin a new one, but a backup of that would be empty. */
function checkFile(path: string): void {
  const db = openDatabase(path)
  try {
    const [found] = db.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
    if (found?.quick_check !== 'ok') throw new StoreError(`${path} is damaged: ${found?.quick_check}`)
  } catch (error) {
    if (isDamaged(error, path)) throw new StoreError(`${path} is damaged, or no ledger`, { cause: error })
    // If a hub has the ledger open, the attempt to open the ledger reveals that.
    if (error instanceof StoreError) throw error
  } finally {
    db.close()
  }
}

class SqliteArchive implements LedgerArchive {
  #path: string
  #voice: StoreVoice
  #ledger: SqliteLedger

  constructor(path: string, voice: StoreVoice, ledger: SqliteLedger) {
    this.#path = path
    this.#voice = voice
    this.#ledger = ledger
  }

  rows(): AsyncIterable<ArchiveRow> {
    return ledgerRows(this.#ledger)
  }

  isEmpty(): Promise<boolean> {
    return isEmptyLedger(this.#ledger)
  }

  /** Makes a new ledger beside the old one, which is kept under another name until a person removes it. */
  async take(rows: AsyncIterable<ArchiveRow>, { replace }: { replace: boolean }): Promise<TakenOver> {
    if (!replace && !(await this.isEmpty())) throw new StoreError(`${this.#path} is not empty`)
    const made = `${this.#path}-restored-${randomName()}`
    try {
      const taken = await this.#fill(made, rows)
      await this.#swap(made)
      return taken
    } finally {
      for (const ending of endings) rmSync(`${made}${ending}`, { recursive: true, force: true })
    }
  }

  close(): Promise<void> {
    return this.#ledger.close()
  }

  async #fill(path: string, rows: AsyncIterable<ArchiveRow>): Promise<TakenOver> {
    const ledger = fileHubLedger(path, { clock: this.#voice.clock })
    try {
      return await takeRows(ledger, rows)
    } finally {
      await ledger.close()
    }
  }

  async #swap(made: string): Promise<void> {
    const isKept = !(await this.isEmpty())
    await this.#ledger.close()
    const { clock, tell } = this.#voice
    const aside = `${this.#path}.${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.replaced`
    try {
      for (const ending of endings) {
        if (!existsSync(`${this.#path}${ending}`)) continue
        if (isKept) renameSync(`${this.#path}${ending}`, `${aside}${ending}`)
        else rmSync(`${this.#path}${ending}`, { recursive: true, force: true })
      }
      for (const ending of endings)
        if (existsSync(`${made}${ending}`)) renameSync(`${made}${ending}`, `${this.#path}${ending}`)
      syncFolder(dirname(this.#path))
    } catch (error) {
      throw storeError('replace', this.#path, error)
    }
    if (isKept) tell?.(`The ledger that was there before is kept as ${aside}. Remove it when you no longer need it.`)
  }
}
