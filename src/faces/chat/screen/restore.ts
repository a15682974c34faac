/** A terminal that went away takes no more words, and that is no fault: a turn that still runs goes on without it. */
const gone = () => {}

/**
 * Runs `restore` however the process ends; undone when it is no longer needed. A fault that nobody caught is told to
 * `broken`, so that it ends the chat in order: a second one ends the process.
 */
export function restoredAtExit(restore: () => void, broken: (error: unknown) => void): () => void {
  process.on('exit', restore)
  process.on('uncaughtExceptionMonitor', restore)
  process.once('uncaughtException', broken)
  // These stay: what was written last may fail only after the chat is left.
  for (const stream of [process.stdin, process.stdout]) stream.off('error', gone).on('error', gone)
  return () => {
    process.off('exit', restore)
    process.off('uncaughtExceptionMonitor', restore)
    process.off('uncaughtException', broken)
  }
}
