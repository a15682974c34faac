import type { Clock } from '../../base/time/clock.ts'
import { stoodStill } from '../../base/time/clock.ts'

/** A stopped process gets SIGCONT within this time after it continues; without that signal it was never stopped. */
const patienceMs = 300

/**
 * Stops this job as Ctrl+Z does in other programs: its whole process group, so that the shell takes the terminal. Agents
 * run in groups of their own and go on. Returns for how long it was stopped, once it was continued; undefined where no
 * shell watches over the job, because the system then ignores the signal.
 */
export async function stopJob(clock: Clock): Promise<number | undefined> {
  const since = clock.elapsed()
  const heard = new AbortController()
  const continued = () => heard.abort()
  process.once('SIGCONT', continued)
  try {
    process.kill(0, 'SIGTSTP')
    // Here the process has been stopped and continued: overdue timers wait until everything that came meanwhile is read.
    stoodStill()
    await clock.sleep(patienceMs, heard.signal)
    return heard.signal.aborted ? clock.elapsed() - since : undefined
  } finally {
    process.off('SIGCONT', continued)
  }
}
