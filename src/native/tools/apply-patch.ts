import type { Shown } from '../../core/talk/question.ts'
import type { FileChange } from '../../core/talk/entry.ts'
import type { PathAccess, Tool, ToolCall } from '../../core/work/tool.ts'
import type { ReadFiles } from './files/file-access.ts'
import type { FormatParts } from './files/formatted-file.ts'
import type { FilePatch, Hunk } from './files/patch-text.ts'
import type { Encoding } from './files/text-encoding.ts'
import type { WholeFile } from './files/editable-file.ts'
import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { realOf } from '../../base/files/real-path.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { lineCount } from './file-creator.ts'
import { draftBytes, draftOf, readForEdit } from './files/editable-file.ts'
import { createFile, existsWords, fileChange, removeFile, replaceContent } from './files/file-change.ts'
import { formatWritten } from './files/formatted-file.ts'
import { applyHunks } from './files/patch-hunks.ts'
import { parsePatch } from './files/patch-text.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'

const fields = parser({ input: string({ min: 1 }) })

/** A patch that cannot be parsed is refused before the person is asked for permission. */
const input: typeof fields = {
  schema: fields.schema,
  parse(sent) {
    const read = fields.parse(sent)
    parsePatch(read.input)
    return read
  },
}

export function applyPatch(parts: FormatParts, seen: ReadFiles): Tool {
  return defineTool({
    name: 'apply_patch',
    risk: 'write',
    input,
    editForm: 'patch',
    aliases: {
      rules: ['Edit', 'MultiEdit', 'Write', 'file_editor'],
      limits: ['file_creator'],
      hooks: ['MultiEdit', 'Edit', 'Write', 'file_editor', 'file_creator'],
    },
    coversShell: 'write',
    effect: ({ input }, cwd) => ({ does: 'access', paths: parsePatch(input).flatMap((file) => accesses(file, cwd)) }),
    shows: ({ input }) => parsePatch(input).flatMap(shownOf),
    async run({ input }, call) {
      const plans = await planPatch(parsePatch(input), call, seen)
      if (call.signal.aborted) throw new Error('cancelled before it was written.')
      await writeAll(plans, call, seen)
      const [changes, words]: [FileChange[], string[]] = [[], []]
      for (const plan of plans) {
        const { change, formatter } = await changeOf(plan, call, parts, seen)
        changes.push(change)
        words.push(`${plan.words}.${formatter}`)
      }
      return { text: words.join('\n'), data: changes }
    },
  })
}

function accesses(file: FilePatch, cwd: string): PathAccess[] {
  const path = resolve(cwd, file.path)
  if (file.does === 'delete') return [{ access: 'remove', path }]
  const to = file.does === 'update' ? file.to : undefined
  return [path, ...(to === undefined ? [] : [resolve(cwd, to)])].map((path) => ({ access: 'write', path }))
}

/** The parts of a patch that a person sees before they agree: each hunk with its lines before and after the change. */
function shownOf(file: FilePatch): Shown[] {
  const { path } = file
  if (file.does === 'delete') return [{ type: 'text', text: `Deletes ${path}.` }]
  if (file.does === 'add') return [{ type: 'diff', path, after: file.content }]
  const side = ({ lines }: Hunk, without: '+' | '-') =>
    lines.map(({ sign, text }) => (sign === without ? '' : `${text}\n`)).join('')
  return [
    ...(file.to === undefined ? [] : [{ type: 'text' as const, text: `Moves ${path} to ${file.to}.` }]),
    ...file.hunks.map((hunk) => ({ type: 'diff' as const, path, before: side(hunk, '+'), after: side(hunk, '-') })),
  ]
}

/** The planned change of one file: `was` is the file before the patch, `body` its content and `at` its path afterwards. */
type Plan = { path: string; at: string; was?: WholeFile; body?: Buffer; moves?: true; words: string }

/** Reads all files of the patch and computes their new contents. Throws an error that names every file that cannot be patched. */
async function planPatch(files: readonly FilePatch[], call: ToolCall, seen: ReadFiles): Promise<Plan[]> {
  const plans: Plan[] = []
  const troubles: string[] = []
  for (const file of files)
    try {
      plans.push(await planOf(file, call, seen))
    } catch (error) {
      const words = messageOf(error)
      troubles.push(words.startsWith(file.path) ? words : `${file.path}: ${words}`)
    }
  troubles.push(...(await collisions(plans)))
  if (troubles.length === 0) return plans
  throw new Error(`${troubles.join('\n')}\nNothing was written.`)
}

async function planOf(file: FilePatch, call: ToolCall, seen: ReadFiles): Promise<Plan> {
  const { path } = file
  const at = resolve(call.cwd, path)
  if (file.does === 'add') {
    await mustBeFree(at, path)
    return { path, at, body: Buffer.from(file.content), words: `Added ${path} (${lineCount(file.content)})` }
  }
  const isLink = await lstat(at).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
  if (isLink && (file.does === 'delete' || file.to !== undefined))
    throw new Error(`${path} is a link. Delete or move it with bash, or name the file that it leads to.`)
  const was = await readForEdit(path, call, seen)
  if (file.does === 'delete') return { path, at, was, words: `Deleted ${path}` }
  const { body, forgiven } = file.hunks.length === 0 ? { body: was.bytes, forgiven: '' } : patchFile(was, file.hunks)
  if (file.to === undefined) return { path, at, was, body, words: `Changed ${path}${forgiven}` }
  const to = resolve(call.cwd, file.to)
  await mustBeFree(to, file.to)
  return { path: file.to, at: to, was, body, moves: true, words: `Moved ${path} to ${file.to}${forgiven}` }
}

async function mustBeFree(at: string, path: string): Promise<void> {
  const there = await lstat(at).then(
    () => true,
    () => false,
  )
  if (there) throw new Error(existsWords(path))
}

function patchFile(file: WholeFile, hunks: readonly Hunk[]): { body: Buffer; forgiven: string } {
  const { encoding, draft } = draftOf(file)
  try {
    const { text, forgiven } = applyHunks(
      draft,
      hunks.map((hunk) => inEncoding(hunk, encoding)),
    )
    const where = forgiven.length === 1 ? `line ${forgiven[0]}` : `lines ${forgiven.join(', ')}`
    const words = forgiven.length === 0 ? '' : `; white space at the end of ${where} was ignored to find the place`
    return { body: draftBytes(text, encoding), forgiven: words }
  } catch (error) {
    throw new Error(encoding.shown(messageOf(error)))
  }
}

function inEncoding(hunk: Hunk, { name, word }: Encoding): Hunk {
  const lines = hunk.lines.map(({ sign, text }) => {
    const encoded = word(text)
    if (encoded === undefined && sign === '+')
      throw new Error(`a "+" line has a character that the file's encoding (${name}) lacks.`)
    // A text with a character that the encoding lacks cannot be in the file: the search reports that.
    return { sign, text: encoded ?? text }
  })
  return { ...hunk, lines, anchors: hunk.anchors.map((anchor) => word(anchor) ?? anchor) }
}

/** Reports sections of the patch that lead to the same file, by links or by different spellings. */
async function collisions(plans: readonly Plan[]): Promise<string[]> {
  const known = new Map<string, string>()
  const troubles: string[] = []
  for (const { path, at, was, moves } of plans) {
    const places = [was?.real, was && !moves ? undefined : ((await realOf(at)) ?? at)]
    for (const place of places) {
      if (place === undefined) continue
      const other = known.get(place)
      if (other !== undefined) troubles.push(`${path} and ${other} are the same file. Give each file one section.`)
      known.set(place, path)
    }
  }
  return troubles
}

/** Writes all files, new ones first and removals last. If one fails, the written ones are restored. */
async function writeAll(plans: readonly Plan[], call: ToolCall, seen: ReadFiles): Promise<void> {
  const undo: { path: string; back(): Promise<unknown> }[] = []
  const isNew = ({ was, moves }: Plan) => was === undefined || moves === true
  try {
    for (const { path, at, was, body } of plans.filter(isNew)) {
      const mode = was && Number(was.stats.mode) & 0o7777
      const made = await createFile(defined({ path, at, body: body!, mode }), call)
      undo.push({ path, back: () => removeFile(made.real, made.stats) })
      seen.remember(made.real, made.stats)
    }
    for (const plan of plans) {
      const { path, was, body } = plan
      if (!was || !body || isNew(plan)) continue
      const now = await replaceContent(was.real, body, was.stats)
      undo.push({ path, back: async () => seen.remember(was.real, await replaceContent(was.real, was.bytes, now)) })
      seen.remember(was.real, now)
    }
    for (const { was, body, moves } of plans) {
      if (!was || (body && !moves)) continue
      await removeFile(was.real, was.stats)
      const mode = Number(was.stats.mode) & 0o7777
      undo.push({ path: was.path, back: () => createFile({ path: was.path, at: was.real, body: was.bytes, mode }, {}) })
    }
  } catch (error) {
    const left: string[] = []
    for (const { path, back } of undo.reverse()) await back().catch(() => left.push(path))
    const words = messageOf(error).replace(/\.$/, '')
    if (left.length === 0) throw new Error(`${words}. Nothing was written.`)
    throw new Error(`${words}. These files were changed already and could not be put back: ${left.join(', ')}.`)
  }
}

/** Runs the formatter on a written file; returns the file's change and the formatter's output. */
async function changeOf(
  { path, at, was, body }: Plan,
  call: ToolCall,
  parts: FormatParts,
  seen: ReadFiles,
): Promise<{ change: FileChange; formatter: string }> {
  const before = was && readableText(was)
  const shortened = shortPath(at, call.cwd)
  const from = was && was.at !== at ? shortPath(was.at, call.cwd) : undefined
  if (!body) return { change: { ...fileChange(shortened, before, ''), gone: true }, formatter: '' }
  const written = { path, at, real: (await realOf(at)) ?? at, after: readableText({ path, bytes: body }) }
  const { after, words } = await formatWritten(written, call, parts, seen)
  return { change: defined({ ...fileChange(shortened, before, after), from }), formatter: words }
}

/** The text of a file for a person to read; a file that is not text has none. */
function readableText(file: Pick<WholeFile, 'path' | 'bytes'>): string {
  try {
    const { encoding, draft } = draftOf(file)
    return encoding.shown(draft)
  } catch {
    return ''
  }
}
