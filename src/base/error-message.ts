/** What went wrong, in its own words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Why a request was not answered: fetch says only that it failed, and why is in its cause. */
export function fetchMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause instanceof Error && cause.message ? cause : error)
}
