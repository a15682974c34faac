/** Returns the message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns why a request failed: the message of `fetch` says only that it did, and its cause says why. */
export function fetchMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause instanceof Error && cause.message ? cause : error)
}
