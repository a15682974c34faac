/** Runs `restore` however the process ends, before it says why; undone when it is no longer needed. */
export function restoredAtExit(restore: () => void): () => void {
  // A terminal that went away takes no more words, and that is no fault of anybody.
  const gone = () => {}
  process.on('exit', restore)
  process.on('uncaughtExceptionMonitor', restore)
  process.stdout.on('error', gone)
  process.stdin.on('error', gone)
  return () => {
    process.off('exit', restore)
    process.off('uncaughtExceptionMonitor', restore)
    process.stdout.off('error', gone)
    process.stdin.off('error', gone)
  }
}
