/**
 * The ledger cannot be reached at the moment, for example because its database is down. Nothing was changed, or the change can safely be
 * sent again: every wish to the hub names its subject. The hub continues by itself when the ledger is back.
 */
export class LedgerAway extends Error {
  override name = 'LedgerAway'
  /** Whether the change may have been made after all: its commit was sent and not answered. */
  readonly isUnsure: boolean

  /** `why` ends a sentence after a colon; it contains no password and no address of the database. */
  constructor(why: string, { isUnsure = false, ...options }: ErrorOptions & { isUnsure?: boolean } = {}) {
    super(
      `The hub cannot reach its database at the moment: ${why}. Try again in a few seconds; the hub goes on by itself.`,
      options,
    )
    this.isUnsure = isUnsure
  }
}

/** How many seconds a client should wait before it repeats a request that failed because the ledger was unavailable. */
export const awaySeconds = 5
