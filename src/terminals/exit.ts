import type { Exit } from '../core/screen/terminal.ts'

const mostSignals = 64

/** A shell tells a program that was killed by the code 128 and more: a program that says so itself means the same. */
export function exitOf(code: number, signal?: number): Exit {
  if (signal) return { signal }
  return code > 128 && code <= 128 + mostSignals ? { signal: code - 128 } : { code }
}
