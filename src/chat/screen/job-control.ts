import type { Clock } from '../../base/time/clock.ts'
import { stoodStill } from '../../base/time/clock.ts'

/** A stopped process gets SIGCONT within this time after it continues; without that signal it was never stopped. */
const patienceMs = 300

/**
 * Stops this job as Ctrl+Z does in other programs: its whole process group, so that the shell takes the terminal. Agents run in their own
 * process groups and continue. Returns how long the job was stopped, once it continues; undefined if no shell controls the job, because
 * the system then ignores the signal.
 */
export async function stopJob(clock: Clock): Promise<number | undefined> {
  const since = clock.elapsed()
  const heard = new AbortController()
  const continued = () => heard.abort()
  process.once('SIGCONT', continued)
  try {
    process.kill(0, 'SIGTSTP')
    // The process has just been stopped and continued: overdue timers wait until all input that arrived meanwhile is read.
    stoodStill()
    await clock.sleep(patienceMs, heard.signal)
    return heard.signal.aborted ? clock.elapsed() - since : undefined
  } finally {
    process.off('SIGCONT', continued)
  }
}
