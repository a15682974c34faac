import type { Io } from '../io.ts'
import type { OpenCrew } from './crews.ts'
import { spawn } from 'node:child_process'
import { UsageError } from '../io.ts'
import { noMore, slotOf } from './verbs.ts'

/** Hands the person's terminal to an agent's; leaving it ends nothing. */
export async function attach(io: Io, { crew, parts }: OpenCrew, [word, ...more]: readonly string[]): Promise<number> {
  noMore('attach', more)
  const slot = await crew.slot(slotOf('attach', word))
  const terminal = slot.terminal && (await parts.find(slot.terminal.id))
  if (!terminal)
    throw new UsageError(`slot ${slot.id} has no terminal: it is ${slot.state}${slot.why ? ` (${slot.why})` : ''}.`, 1)
  if (!terminal.attach)
    throw new UsageError(
      `slot ${slot.id} runs in a terminal inside another process; see it with: termaite crew read ${slot.id}`,
      1,
    )
  if (!io.in.isTTY) throw new UsageError(`this is no terminal to attach to. In one, type: ${terminal.attach}`)
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `exec ${terminal.attach}`], { stdio: 'inherit', env: io.env })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
