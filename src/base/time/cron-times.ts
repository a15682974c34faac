/** Computes the times of cron patterns. */
export type CronTimes = {
  /**
   * The first time after `after`, in ms; undefined if no time matches. Throws an Error with the reason for a pattern or a zone that
   * cannot be parsed.
   */
  next(pattern: string, zone: string, after: number): number | undefined
}

/** Loads the library for cron patterns, which few processes need. A pattern has five fields, or is a name such as `@daily`. */
export async function loadCronTimes(): Promise<CronTimes> {
  const { Cron } = await import('croner')
  return {
    next(pattern, zone, after) {
      const cron = new Cron(pattern, { mode: '5-part', timezone: zone, paused: true })
      return cron.nextRun(new Date(after))?.getTime()
    },
  }
}
