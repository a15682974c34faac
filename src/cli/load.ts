import type { CommandCode } from './program.ts'
import * as prompt from './commands/prompt.ts'

/**
 * A command's code. A turn is at hand, because it is what starts most often;
 * the others are one chunk, read only when one of them is called.
 */
export async function load(name: string): Promise<CommandCode> {
  return name === 'termaite' ? prompt : (await import('./commands/all.ts')).all[name]!
}
