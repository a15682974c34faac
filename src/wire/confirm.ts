import type { Io } from './io.ts'
import { createInterface } from 'node:readline/promises'
import { UsageError } from './io.ts'

/** A yes from the person; without a terminal to ask on, the way to say it beforehand. */
export async function confirm(io: Io, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true
  if (!io.in.isTTY) throw new UsageError(`${question} Nobody can be asked here: add --yes to do it.`)
  const answer = await ask(io, `${question} [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

export async function ask(io: Io, question: string): Promise<string> {
  const lines = createInterface({ input: io.in, output: io.err })
  try {
    return await lines.question(question, { signal: io.signal })
  } catch (error) {
    if (io.signal.aborted) throw new UsageError('interrupted; nothing was changed', Number(io.signal.reason))
    throw error
  } finally {
    lines.close()
  }
}
