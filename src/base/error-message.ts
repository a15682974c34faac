/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns why a request failed: the message of `fetch` only says that it failed, and its cause says why. */
export function fetchMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause instanceof Error && cause.message ? cause : error)
}
