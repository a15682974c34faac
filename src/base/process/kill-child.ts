import type { ChildProcess } from 'node:child_process'

/**
 * Sends a signal to a process that we started. `kill` of a child is never called directly: if the child could not be started, Node takes
 * a number that was never set for that of the child, and the signal goes to somebody else's process, or to all of ours.
 */
export function killChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): void {
  if (child.pid !== undefined) child.kill(signal)
}
