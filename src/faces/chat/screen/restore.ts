/** A terminal that went away takes no more words, and that is no fault: a turn that still runs goes on without it. */
const gone = () => {}

/** Runs `restore` however the process ends, before it says why; undone when it is no longer needed. */
export function restoredAtExit(restore: () => void): () => void {
  process.on('exit', restore)
  process.on('uncaughtExceptionMonitor', restore)
  // These stay: what was written last may fail only after the chat is left.
  for (const stream of [process.stdin, process.stdout]) stream.off('error', gone).on('error', gone)
  return () => {
    process.off('exit', restore)
    process.off('uncaughtExceptionMonitor', restore)
  }
}
