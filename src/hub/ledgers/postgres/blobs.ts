import type { Blobs, BlobWriter, Ref } from '../../../core/talk/store.ts'
import type { Session } from './connections.ts'
import { randomName } from '../../../base/id.ts'
import { sha256 } from '../../../base/hash.ts'
import { serialQueue } from '../../../base/serial-queue.ts'
import { StoreError } from '../../../core/talk/store.ts'

/** The size of a piece. A body of any length is written and read with only a few pieces in memory. */
const pieceBytes = 256 * 1024
/** A body that no task refers to is kept for this time, because the task that will refer to it may not be stored yet. */
const unnamedHours = 24

/**
 * Long texts in PostgreSQL, each in pieces. A body is found by the hash of its content; its pieces have a separate name, because the hash
 * is only known after the last piece.
 */
export class PostgresBlobs implements Blobs {
  #schema: string
  /** Runs a statement; every statement of this class may be repeated. */
  readonly run: <T>(work: (session: Session) => Promise<T>) => Promise<T>

  constructor(schema: string, run: PostgresBlobs['run']) {
    this.#schema = schema
    this.run = run
  }

  async put(body: string | Uint8Array, media: string): Promise<Ref> {
    const writer = this.writer(media)
    await writer.write(typeof body === 'string' ? Buffer.from(body) : body)
    return writer.done()
  }

  writer(media: string): BlobWriter {
    return new PostgresBlobWriter(media, this.run, this.#schema)
  }

  async *read({ sha }: Ref): AsyncGenerator<Uint8Array> {
    if (!/^[0-9a-f]{64}$/.test(sha)) throw new StoreError(`${JSON.stringify(sha)} names no stored body`)
    const [text] = await this.run((session) =>
      session.rows<{ body: string; bytes: number }>(`SELECT body, bytes FROM ${this.#schema}.texts WHERE sha = $1`, [
        sha,
      ]),
    )
    if (!text) throw new StoreError(`the text ${sha} is missing in the ledger; its content is lost`)
    const hash = sha256()
    for (let number = 0, left = text.bytes; left > 0; number++) {
      const [row] = await this.run((session) =>
        session.rows<{ piece: Buffer }>(
          `SELECT piece FROM ${this.#schema}.text_pieces WHERE body = $1 AND number = $2`,
          [text.body, number],
        ),
      )
      if (!row) throw new StoreError(`the text ${sha} is not whole in the ledger; its content is lost`)
      hash.update(row.piece)
      left -= row.piece.length
      yield row.piece
    }
    if (hash.digest('hex') !== sha) throw new StoreError(`the text ${sha} is damaged in the ledger`)
  }

  place(): undefined {
    return undefined
  }

  async keepOnly(shas: ReadonlySet<string>): Promise<void> {
    await this.#drop('NOT t.sha = ANY($1)', [[...shas]])
  }

  async clear(): Promise<void> {
    await this.#drop('true', [])
  }

  /** Removes bodies that no task refers to and that are old enough, and pieces whose writer is gone. */
  async sweep(): Promise<void> {
    const s = this.#schema
    const old = `clock_timestamp() - interval '${unnamedHours} hours'`
    await this.#drop(
      `t.made < ${old} AND NOT EXISTS (SELECT 1 FROM (SELECT unnest(texts) AS sha FROM ${s}.tasks WHERE texts IS NOT NULL) n
        WHERE n.sha = t.sha)`,
      [],
    )
    await this.run((session) =>
      session.run(
        `DELETE FROM ${s}.text_pieces p WHERE p.made < ${old} AND NOT EXISTS (SELECT 1 FROM ${s}.texts t WHERE t.body = p.body)`,
      ),
    )
  }

  async #drop(which: string, values: unknown[]): Promise<void> {
    const s = this.#schema
    await this.run((session) =>
      session.run(
        `WITH gone AS (DELETE FROM ${s}.texts t WHERE ${which} RETURNING t.body)
          DELETE FROM ${s}.text_pieces p USING gone WHERE p.body = gone.body`,
        values,
      ),
    )
  }
}

/** Writes a body piece by piece and hashes it on the way; the body can be found once it is complete. */
class PostgresBlobWriter implements BlobWriter {
  #media: string
  #run: PostgresBlobs['run']
  #schema: string
  #body = randomName()
  #hash = sha256()
  #bytes = 0
  #number = 0
  #held: Uint8Array[] = []
  #heldBytes = 0
  #serial = serialQueue()
  #failure: { error: unknown } | undefined

  constructor(media: string, run: PostgresBlobs['run'], schema: string) {
    this.#media = media
    this.#run = run
    this.#schema = schema
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#step(async () => {
      this.#hash.update(chunk)
      this.#bytes += chunk.length
      for (let at = 0; at < chunk.length;) {
        const part = chunk.subarray(at, at + pieceBytes - this.#heldBytes)
        // Copies the chunk, because the caller may reuse its memory.
        this.#held.push(Buffer.from(part))
        this.#heldBytes += part.length
        at += part.length
        if (this.#heldBytes === pieceBytes) await this.#flush()
      }
    })
  }

  done(): Promise<Ref> {
    return this.#step(async () => {
      await this.#flush()
      const sha = this.#hash.digest('hex')
      const s = this.#schema
      // If a body with this hash exists already, it is the same body. Its time is renewed, so that it is not removed before a task refers
      // to it.
      const { rows } = await this.#run((session) =>
        session.run(
          `INSERT INTO ${s}.texts AS t (sha, body, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (sha) DO UPDATE SET made = clock_timestamp() RETURNING t.body`,
          [sha, this.#body, this.#bytes],
        ),
      )
      if ((rows[0] as { body: string }).body !== this.#body) await this.#remove()
      return { sha, media: this.#media, bytes: this.#bytes }
    })
  }

  drop(): Promise<void> {
    return this.#serial(() => this.#remove())
  }

  async #flush(): Promise<void> {
    if (this.#heldBytes === 0) return
    const piece = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    const number = this.#number++
    await this.#run((session) =>
      session.run(
        `INSERT INTO ${this.#schema}.text_pieces (body, number, piece) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [this.#body, number, piece],
      ),
    )
  }

  async #remove(): Promise<void> {
    if (this.#number === 0) return
    await this.#run((session) => session.run(`DELETE FROM ${this.#schema}.text_pieces WHERE body = $1`, [this.#body]))
  }

  /** Runs the steps one after another; after a failure no further step runs, so that a body with a gap is never completed. */
  #step<T>(work: () => Promise<T>): Promise<T> {
    return this.#serial(async () => {
      if (this.#failure) throw this.#failure.error
      try {
        return await work()
      } catch (error) {
        this.#failure = { error }
        throw error
      }
    })
  }
}
