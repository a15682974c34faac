import type { FileChange } from '../core/talk/entry.ts'
import type { Tool } from '../core/work/tool.ts'
import type { ReadFiles } from './files/file-access.ts'
import { mkdir, open, realpath, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
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
    async run({ file_path, content }, { cwd }) {
      const at = resolve(cwd, file_path)
      await mkdir(dirname(at), { recursive: true }).catch((error) => {
        throw new Error(`the folder ${dirname(at)} could not be created: ${messageOf(error)}.`)
      })
      // `wx` refuses any existing name, even a link that leads nowhere.
      const file = await open(at, 'wx', 0o666).catch((error) => {
        throw new Error(refusal(error, file_path))
      })
      try {
        await file.writeFile(content)
        seen.remember(await realpath(at), await file.stat({ bigint: true }))
      } catch (error) {
        await rm(at, { force: true })
        throw error
      } finally {
        await file.close()
      }
      const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
      const changes: FileChange[] = [fileChange(shortPath(at, cwd), undefined, content)]
      return { text: `Wrote ${file_path} (${lines} ${lines === 1 ? 'line' : 'lines'}).`, data: changes }
    },
  })
}

function refusal(error: unknown, path: string): string {
  const code = errorCode(error)
  if (code === 'EEXIST') return `${path} exists already. Read it with file_reader and change it with file_editor.`
  if (code === 'EISDIR') return `${path} is a folder: name a file in it.`
  return `${path} could not be written: ${messageOf(error)}.`
}
