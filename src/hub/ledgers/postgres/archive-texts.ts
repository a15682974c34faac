import type { ArchiveCounts, ArchiveRow } from '../../model/ledger-archive.ts'
import type { Session } from './connections.ts'
import { sha256 } from '../../../base/hash.ts'
import { randomName } from '../../../base/id.ts'
import { StoreError } from '../../../core/talk/store.ts'

/** How many rows are read or written together. */
export const page = 500
/** Reading or writing everything may take hours. */
export const answerMs = 6 * 3_600_000

/** All long texts of a ledger, each as a row with its hash and then its pieces. */
export async function* archivedTexts(session: Session, schema: string): AsyncGenerator<ArchiveRow> {
  for (let last: string | undefined = ''; last !== undefined;) {
    const rows: { sha: string; body: string; bytes: number }[] = (
      await session.run(
        `SELECT sha, body, bytes FROM ${schema}.texts WHERE sha > $1 ORDER BY sha LIMIT ${page}`,
        [last],
        answerMs,
      )
    ).rows
    for (const { sha, body, bytes } of rows) {
      yield { text: { sha, bytes } }
      for (let number = 0, left = bytes; left > 0; number++) {
        const [row] = await session.rows<{ piece: Buffer }>(
          `SELECT piece FROM ${schema}.text_pieces WHERE body = $1 AND number = $2`,
          [body, number],
        )
        if (!row) throw new StoreError(`the text ${sha} is not whole in the ledger`)
        left -= row.piece.length
        yield { piece: row.piece.toString('base64') }
      }
    }
    last = rows.length < page ? undefined : rows.at(-1)?.sha
  }
}

/** Takes over long texts piece by piece, and checks their hashes. */
export class TextTaker {
  #session: Session
  #s: string
  #taken: ArchiveCounts
  #there: ArchiveCounts
  #text:
    | { sha: string; bytes: number; body: string; number: number; left: number; hash: ReturnType<typeof sha256> }
    | undefined
  #isThere = false

  constructor(session: Session, schema: string, taken: ArchiveCounts, there: ArchiveCounts) {
    this.#session = session
    this.#s = schema
    this.#taken = taken
    this.#there = there
  }

  async begin({ sha, bytes }: { sha: string; bytes: number }): Promise<void> {
    await this.end()
    const body = randomName()
    const { rowCount } = await this.#session.run(
      `INSERT INTO ${this.#s}.texts (sha, body, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [sha, body, bytes],
      answerMs,
    )
    this.#isThere = rowCount === 0
    const counts = this.#isThere ? this.#there : this.#taken
    counts.text++
    this.#text = { sha, bytes, body, number: 0, left: bytes, hash: sha256() }
  }

  async add(piece: string): Promise<void> {
    const text = this.#text
    if (!text) throw new StoreError('the backup has a piece of a text without its beginning')
    const bytes = Buffer.from(piece, 'base64')
    text.hash.update(bytes)
    text.left -= bytes.length
    if (this.#isThere) return
    await this.#session.run(
      `INSERT INTO ${this.#s}.text_pieces (body, number, piece) VALUES ($1, $2, $3)`,
      [text.body, text.number++, bytes],
      answerMs,
    )
  }

  async end(): Promise<void> {
    const text = this.#text
    this.#text = undefined
    if (text && (text.left !== 0 || text.hash.digest('hex') !== text.sha))
      throw new StoreError(`the text ${text.sha} is not whole in the backup`)
  }
}
