import type { FileChange } from '../core/talk/entry.ts'
import type { Tool, ToolCall } from '../core/work/tool.ts'
import type { ReadFiles } from './files/file-access.ts'
import { constants } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { HeldFolder, MovedPath } from '../base/held-folder.ts'
import { realOf } from '../base/real-path.ts'
import { mustBeJudged } from './files/file-access.ts'
import { errorCode } from '../base/files.ts'
import { shortPath } from '../base/short-path.ts'
import { messageOf } from '../base/error-message.ts'
import { fileChange } from './files/file-change.ts'
import { defineTool } from './tool-definition.ts'
import { parser, string } from '../core/work/shape.ts'

const input = parser({ file_path: string({ min: 1 }), content: string() })

export function fileCreator(seen: ReadFiles): Tool {
  return defineTool({
    name: 'file_creator',
    risk: 'write',
    input,
    aliases: { rules: ['Edit', 'Write'], hooks: ['Write'] },
    coversShell: 'write',
    effect: ({ file_path }, cwd) => ({ does: 'access', paths: [{ access: 'write', path: resolve(cwd, file_path) }] }),
    async run({ file_path, content }, call) {
      const { cwd } = call
      const at = resolve(cwd, file_path)
      const folder = await folderFor(at, call)
      try {
        // O_EXCL refuses any existing name, even a link that leads nowhere.
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
        const file = await folder.openFile(basename(at), flags, 0o666).catch((error) => {
          throw new Error(refusal(error, file_path))
        })
        try {
          await file.writeFile(content)
          seen.remember(join(folder.real, basename(at)), await file.stat({ bigint: true }))
        } catch (error) {
          await rm(folder.at(basename(at)), { force: true })
          throw error
        } finally {
          await file.close()
        }
      } finally {
        folder.close()
      }
      const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
      const changes: FileChange[] = [fileChange(shortPath(at, cwd), undefined, content)]
      return { text: `Wrote ${file_path} (${lines} ${lines === 1 ? 'line' : 'lines'}).`, data: changes }
    },
  })
}

/** Opens the folder that a new file goes to, and makes it where it is missing. */
async function folderFor(at: string, call: ToolCall): Promise<HeldFolder> {
  const folder = dirname(at)
  try {
    const real = await realOf(folder)
    if (real === undefined) throw new Error('a link on its way leads nowhere')
    mustBeJudged(at, join(real, basename(at)), call)
    return HeldFolder.make(real)
  } catch (error) {
    if (error instanceof MovedPath) throw error
    throw new Error(`the folder ${folder} could not be created: ${messageOf(error)}.`)
  }
}

function refusal(error: unknown, path: string): string {
  const code = errorCode(error)
  if (code === 'EEXIST') return `${path} exists already. Read it with file_reader and change it with file_editor.`
  if (code === 'EISDIR') return `${path} is a folder: name a file in it.`
  return `${path} could not be written: ${messageOf(error)}.`
}
