import type { LentServer, ScreenFacts } from '../core/profile/profile.ts'
import { promises } from 'node:fs'
import { join } from 'node:path'

/**
 * Opens an MCP server for this turn, if there is one, and writes the CLI's files for it into the folder. `lasting`: a process may
 * continue to use the server in its next turns, under the same address and with the same tools.
 */
export type Lend = () => Promise<{ server: LentServer; folder: string; lasting?: true } | undefined>

/**
 * The arguments that tell a CLI about the MCP server of this turn: '' if it supports none. `lasting` is false if they apply to this turn
 * only.
 */
export async function lentServerArguments(
  lends: ScreenFacts['lends'],
  lend: Lend | undefined,
): Promise<{ words: string; lasting: boolean }> {
  const lent = lends && (await lend?.())
  if (!lent) return { words: '', lasting: true }
  const file = join(lent.folder, 'mcp.json')
  const { words, text } = lends(lent.server, file)
  if (text !== undefined) await promises.writeFile(file, text, { mode: 0o600 })
  return { words, lasting: lent.lasting === true }
}
