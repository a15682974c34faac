import type { Clock } from '../../base/time/clock.ts'
import type { HubRequestBook } from '../../core/work/hub-request.ts'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { sha256 } from '../../base/hash.ts'
import { randomName } from '../../base/id.ts'
import { LedgerAway } from '../model/ledger-away.ts'
import { requestName } from './rules/repeated-request.ts'
import { HubError } from './rules/task-rules.ts'

/** A change that a client wants, with the client's own key for the request. */
type AskedChange = {
  by: string
  /** The method and the path of the request, as text. */
  act: string
  key: string
  body: unknown
  /** The key or the cookies with which the client authenticates. The answer is sealed with it. */
  secret: string
  /**
   * Whether the change itself recognises a repeated request, so that the request may be repeated while the outcome of the first attempt
   * is unknown.
   */
  remembers: boolean
  signal: AbortSignal
}

type KeptRequestParts = { book: HubRequestBook; clock: Clock }

/** How long a request is remembered. */
const keptMs = 24 * 3_600_000
/** How long a request waits for an identical one that is still running, and how often it checks. */
const patienceMs = 20_000
const lookMs = 200
/** How often the outcome is written again if the ledger rejects it, and after which pause. */
const mostTries = 60
const retryMs = 1_000

/** Makes each change once, however often a client requests it, and gives the same answer every time. */
export class KeptRequests {
  #book: HubRequestBook
  #clock: Clock

  constructor({ book, clock }: KeptRequestParts) {
    this.#book = book
    this.#clock = clock
  }

  /**
   * Makes a change, or returns the answer that was stored when it was made. A change that was refused or failed may be requested again.
   */
  async once(asked: AskedChange, change: () => Promise<unknown>): Promise<{ answer: unknown; isRepeated: boolean }> {
    const name = requestName(asked.by, asked.act, asked.key)!
    const run = randomName()
    const known = await this.#begin(asked, name, run)
    if (known !== undefined) return { answer: openSealed(known, name, asked), isRepeated: true }
    let answer: unknown
    try {
      answer = await change()
    } catch (error) {
      if (!(error instanceof LedgerAway && error.isUnsure)) await this.#surely(() => this.#book.forget(name, run))
      throw error
    }
    await this.#surely(() => this.#book.answer(name, sealAnswer(answer, name, asked)))
    return { answer, isRepeated: false }
  }

  /** The sealed answer of a request that was made before; undefined if the change has yet to be made. */
  async #begin(asked: AskedChange, name: string, run: string): Promise<string | undefined> {
    const body = sha256()
      .update(JSON.stringify(asked.body ?? {}))
      .digest('hex')
    for (const until = this.#clock.elapsed() + patienceMs; ;) {
      const at = this.#clock.now()
      const found = await this.#book.begin({ name, run, body, at }, at - keptMs)
      if (found.run === run) return undefined
      if (found.body !== body)
        throw new HubError(
          'wrong',
          'This idempotency key was used before, with a different body. A new request needs a new key; the same request is sent again as it was.',
        )
      if (found.answer !== undefined) return found.answer
      if (asked.remembers) return undefined
      if (asked.signal.aborted || this.#clock.elapsed() >= until)
        throw new HubError(
          'conflict',
          `The request with this idempotency key began at ${new Date(found.at).toISOString()} and has no answer yet. Send it again in a moment. If this does not change, the hub was stopped in the middle of it: look whether the change was made, and use a new key if it was not.`,
        )
      await this.#clock.sleep(lookMs, asked.signal)
    }
  }

  /**
   * Writes the outcome of a request. While the ledger cannot be written, the write is repeated in the background; the client does not
   * wait for it.
   */
  async #surely(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch {
      void this.#later(write)
    }
  }

  async #later(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; tries <= mostTries; tries++) {
      await this.#clock.sleep(retryMs)
      const isWritten = await write().then(
        () => true,
        () => false,
      )
      if (isWritten) return
    }
  }
}

/** The cipher of sealed answers. An answer may contain a secret, such as a new key, which the ledger must not reveal. */
const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

const sealKey = (name: string, { secret, key }: AskedChange) =>
  new Uint8Array(hkdfSync('sha256', JSON.stringify([secret, key]), name, 'termaite answer', 32))

function sealAnswer(answer: unknown, name: string, asked: AskedChange): string {
  const nonce = randomBytes(nonceBytes)
  const seal = createCipheriv(cipher, sealKey(name, asked), nonce)
  const text = Buffer.concat([seal.update(JSON.stringify(answer) ?? 'null', 'utf8'), seal.final()])
  return Buffer.concat([nonce, seal.getAuthTag(), text]).toString('base64')
}

function openSealed(text: string, name: string, asked: AskedChange): unknown {
  const bytes = Buffer.from(text, 'base64')
  const seal = createDecipheriv(cipher, sealKey(name, asked), bytes.subarray(0, nonceBytes))
  seal.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return JSON.parse(Buffer.concat([seal.update(bytes.subarray(nonceBytes + tagBytes)), seal.final()]).toString())
  } catch {
    throw new HubError(
      'conflict',
      'The change was made when this idempotency key first came. Its answer can only be read with the key or sign-in that it was asked for with, which is another one now.',
    )
  }
}
