/** When a provider's message says that a limit ends, in ms since 1970; undefined without a stated time and zone. */
export function resetTime(message: string, now: number): number | undefined {
  const seconds = /(?:retry|try again) (?:after|in) (\d+(?:\.\d+)?) ?s(?:ec|econds?)?\b/i.exec(message)
  return seconds ? now + Math.ceil(Number(seconds[1]) * 1000) : undefined
}
