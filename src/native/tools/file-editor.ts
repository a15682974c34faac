import type { FileChange } from '../../core/talk/entry.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Encoding } from './files/text-encoding.ts'
import type { Edit, Edited } from './files/text-edit.ts'
import type { ReadFiles } from './files/file-access.ts'
import type { FormatParts } from './files/formatted-file.ts'
import { resolve } from 'node:path'
import { applyEdit } from './files/text-edit.ts'
import { draftBytes, draftOf, readForEdit } from './files/editable-file.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { messageOf } from '../../base/error-message.ts'
import { replaceContent, fileChange } from './files/file-change.ts'
import { formatWritten } from './files/formatted-file.ts'
import { defineTool } from './shared/tool-definition.ts'
import { boolean, list, object, optional, parser, string } from '../../core/data/shape.ts'

const input = parser({
  file_path: string({ min: 1 }),
  edits: list(object({ old_string: string(), new_string: string(), replace_all: optional(boolean()) }), 1),
})

export function fileEditor(parts: FormatParts, seen: ReadFiles): Tool {
  return defineTool({
    name: 'file_editor',
    risk: 'write',
    input,
    editForm: 'edits',
    aliases: { rules: ['Edit', 'MultiEdit', 'Write'], hooks: ['MultiEdit', 'Edit'] },
    coversShell: 'write',
    effect: ({ file_path }, cwd) => ({ does: 'access', paths: [{ access: 'write', path: resolve(cwd, file_path) }] }),
    async run({ file_path, edits }, call) {
      const { cwd, signal } = call
      const file = await readForEdit(file_path, call, seen)
      const { encoding, draft } = draftOf(file)
      const made = allEdited(draft, edits, encoding)
      const after = made.at(-1)!.text
      if (signal.aborted) throw new Error('cancelled before it was written.')
      seen.remember(file.real, await replaceContent(file.real, draftBytes(after, encoding), file.stats))
      const written = await formatWritten({ ...file, after: encoding.shown(after) }, call, parts, seen)
      const changes: FileChange[] = [fileChange(shortPath(file.at, cwd), encoding.shown(draft), written.after)]
      return { text: `${countText(edits, made)} in ${file_path}.${forgivenText(made)}${written.words}`, data: changes }
    },
  })
}

/** Applies all edits in order, each to the result of the one before, or none of them: the error names the edit that is impossible. */
function allEdited(text: string, edits: readonly Edit[], encoding: Encoding): Edited[] {
  const made: Edited[] = []
  for (const [i, edit] of edits.entries()) {
    try {
      made.push(applyEdit(made.at(-1)?.text ?? text, inEncoding(edit, encoding)))
    } catch (error) {
      const which = edits.length === 1 ? '' : `edits[${i}]: `
      throw new Error(
        `${which}${encoding.shown(messageOf(error))}${edits.length === 1 ? '' : '\nNone of the edits was made.'}`,
      )
    }
  }
  return made
}

function countText(edits: readonly Edit[], made: readonly Edited[]): string {
  const count = edits.length === 1 ? 'Made 1 edit' : `Made ${edits.length} edits`
  if (!edits.some(({ replace_all }) => replace_all)) return count
  const places = made.reduce((sum, edit) => sum + edit.places, 0)
  return `${count} (${places} ${places === 1 ? 'place' : 'places'})`
}

/** Says where a match ignored white space, so that the model knows the file's real text again. */
function forgivenText(made: readonly Edited[]): string {
  const lines = [...new Set(made.flatMap(({ forgiven }) => forgiven))]
  if (lines.length === 0) return ''
  const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`
  return ` White space at the end of ${where} was ignored to find old_string, and is replaced with it.`
}

function inEncoding(edit: Edit, { name, word }: Encoding): Edit {
  const [old_string, new_string] = [word(edit.old_string), word(edit.new_string)]
  if (new_string === undefined) throw new Error(`new_string has a character that the file's encoding (${name}) lacks.`)
  // A text with a character that the encoding lacks cannot be in the file: the search reports that.
  return { ...edit, old_string: old_string ?? edit.old_string, new_string }
}
