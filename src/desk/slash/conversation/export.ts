import type { Command } from '../../../core/talk/command.ts'
import type { App } from '../../../turn/app.ts'
import type { Index, Session } from '../../../store/index/conversation-index.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { open } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { errorCode } from '../../../base/files/files.ts'
import { borderOf } from '../../../border/border.ts'
import { UsageError } from '../../../core/io.ts'
import { keeping, withIndex } from '../shared/session-index.ts'

/** Writes the current session as one file, as `termaite sessions export` does. The ending of the file says the format. */
export function exportCommand(controls: DeskControls): Command {
  return {
    name: 'export',
    words: '[file]',
    help: 'Write this session as one file: .md, .json or .jsonl.',
    async run(args, { say }) {
      const app = keeping(controls)
      const { place, session } = app
      const path = resolve(place.cwd, args.trim() === '' ? `termaite-${session.id}.md` : args.trim())
      await withIndex(controls, async (index) => {
        const kept = (await index.sessions()).find(({ id }) => id === session.id)
        if (!kept) throw new UsageError('there is nothing in this session yet.')
        await writeExport(app, index, kept, path)
      })
      say(`This session is in ${path}. Secrets in it are masked.`, 'note')
    },
  }
}

/** Writes a session to a file that is not there yet. */
export async function writeExport(
  { io, place, store }: Pick<App, 'io' | 'place' | 'store'>,
  index: Index,
  session: Session,
  path: string,
): Promise<void> {
  const format = formats[extname(path)]
  if (format === undefined)
    throw new UsageError(`a session is written as .md, .json or .jsonl, but found "${basename(path)}".`)
  const { exportSession } = await import('../../session-export.ts')
  const mask = borderOf(io.env, place.home).toward('export')
  const file = await created(path)
  try {
    for await (const part of exportSession(session, index.entries(session.id), { store, mask }, format))
      await file.write(part)
  } finally {
    await file.close()
  }
}

const formats: Readonly<Record<string, string>> = { '.md': 'markdown', '.json': 'json', '.jsonl': 'jsonl' }

/** Makes the file. One that is there already is not overwritten. */
async function created(path: string) {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    throw new UsageError(`${path} is there already. Name another file, or remove that one.`)
  }
}
