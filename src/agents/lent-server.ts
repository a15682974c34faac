import type { LentServer, ScreenFacts } from '../core/profile/profile.ts'
import { promises } from 'node:fs'
import { join } from 'node:path'

/** Opens an MCP server for this turn, if there is one; the CLI's files for it go into the folder. */
export type Lend = () => Promise<{ server: LentServer; folder: string } | undefined>

/** The arguments that give a CLI the MCP server of this turn; '' if it takes none. */
export async function lentServerArguments(lends: ScreenFacts['lends'], lend: Lend | undefined): Promise<string> {
  const lent = lends && (await lend?.())
  if (!lent) return ''
  const file = join(lent.folder, 'mcp.json')
  const { words, text } = lends(lent.server, file)
  if (text !== undefined) await promises.writeFile(file, text, { mode: 0o600 })
  return words
}
