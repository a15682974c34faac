import type { FileChange } from '../../core/talk/entry.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { ReadFiles } from './files/file-access.ts'
import type { FormatParts } from './files/formatted-file.ts'
import { resolve } from 'node:path'
import { shortPath } from '../../base/files/short-path.ts'
import { createFile, fileChange } from './files/file-change.ts'
import { formatWritten } from './files/formatted-file.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'

const input = parser({ file_path: string({ min: 1 }), content: string() })

export function fileCreator(parts: FormatParts, seen: ReadFiles): Tool {
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
      const { real, stats } = await createFile({ at, path: file_path, body: content }, call)
      seen.remember(real, stats)
      const { after, words } = await formatWritten({ path: file_path, at, real, after: content }, call, parts, seen)
      const changes: FileChange[] = [fileChange(shortPath(at, cwd), undefined, after)]
      return { text: `Wrote ${file_path} (${lineCount(content)}).${words}`, data: changes }
    },
  })
}

/** The number of lines of a new file, as text. */
export function lineCount(content: string): string {
  const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`
}
