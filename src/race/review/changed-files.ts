import type { Git } from '../../base/git/project-git.ts'
import type { ReviewScope } from './review-scope.ts'
import { open } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, join } from 'node:path'
import { checkedGit } from '../../base/git/project-git.ts'
import { isSecretName } from '../../safety/secret-files.ts'

/** One file among the changes to review. */
export type ChangedFile = {
  path: string
  /** The name of the file before it was renamed. */
  from?: string
  how: 'new' | 'changed' | 'deleted' | 'renamed'
  added: number
  removed: number
  submodule?: true
  /** Why `hunks` lacks the lines of the file. */
  unread?: string
  hunks: Hunk[]
}

/** Neighbouring changed lines with the lines around them. `from` and `to`: the first and the last line that a finding may refer to. */
type Hunk = { title: string; from: number; to: number; lines: HunkLine[] }

/** `at`: the number of the line in the file after the change; missing for a removed line. */
type HunkLine = { sign: '+' | '-' | ' '; text: string; at?: number }

/** The longest patch that is read from git. */
const mostBytes = 8 * 1024 * 1024
/** Files with more changed lines are only named. */
const mostLines = 3_000
const mostUntracked = 400
const mostUntrackedBytes = 256 * 1024
/** Generated files, with many lines and little to review. */
const generated =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock|.+\.min\.(?:js|css)|.+\.map)$/

/** Reads the changes of a scope from git. Files that contain keys are named, but their lines are not read. */
export async function changedFiles(git: Git, root: string, scope: ReviewScope): Promise<ChangedFile[]> {
  const between = [scope.base, ...(scope.target === undefined ? [] : [scope.target])]
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '-M', '--ignore-submodules=dirty', '--submodule=short']
  const listed = async (how: string) => checkedGit(git, root, ['diff', ...plain, how, '-z', ...between, '--'])
  const files = filesIn((await listed('--raw')).toString(), countsIn((await listed('--numstat')).toString()))
  const hidden = files.filter(({ unread }) => unread !== undefined).slice(0, 500)
  const left = hidden.flatMap(({ path, from }) => [path, ...(from === undefined ? [] : [from])])
  let bytes = 0
  const { out, code, err } = await git.ran(
    root,
    ['diff', ...plain, '-p', ...between, '--', '.', ...left.map((path) => `:(exclude,literal)${path}`)],
    { enough: (chunk) => (bytes += chunk.length) > mostBytes },
  )
  if (code !== 0 && bytes <= mostBytes) throw new Error(err.trim().split('\n').at(-1) || 'git diff failed')
  const hunks = patchesIn(out.toString(), bytes > mostBytes)
  for (const file of files) {
    const found = hunks.get(file.path) ?? hunks.get(file.from ?? '')
    if (file.submodule) file.unread = submoduleWords(found ?? [])
    else if (file.unread === undefined && found) file.hunks = found
    else if (file.unread === undefined && file.added + file.removed > 0) file.unread = 'the diff is too large'
  }
  return scope.target === undefined ? [...files, ...(await untracked(git, root))] : files
}

/** The patch of a submodule has one line for the commit before and one for the commit after. */
function submoduleWords(hunks: readonly Hunk[]): string {
  const commit = (sign: HunkLine['sign']) => {
    const line = hunks.flatMap(({ lines }) => lines).find((one) => one.sign === sign)
    return line === undefined ? 'nothing' : line.text.replace('Subproject commit ', '').slice(0, 12)
  }
  return `a submodule, from ${commit('-')} to ${commit('+')}`
}

type Counts = ReadonlyMap<string, { added: number; removed: number; binary: boolean }>

function countsIn(text: string): Counts {
  const counts = new Map<string, { added: number; removed: number; binary: boolean }>()
  const parts = text.split('\0')
  for (let at = 0; at < parts.length; at++) {
    const [, added, removed, path] = /^(\S+)\t(\S+)\t([^]*)$/.exec(parts[at]!) ?? []
    if (added === undefined) continue
    // The two names of a renamed file are in the next parts.
    const name = path === '' ? parts[(at += 2)]! : path!
    counts.set(name, { added: Number(added) || 0, removed: Number(removed) || 0, binary: added === '-' })
  }
  return counts
}

const submodule = '160000'

function filesIn(raw: string, counts: Counts): ChangedFile[] {
  const files = new Map<string, ChangedFile>()
  const parts = raw.split('\0')
  for (let at = 0; at < parts.length; at++) {
    const entry = /^:(\d+) (\d+) \S+ \S+ ([A-Z])\d*$/.exec(parts[at]!)
    if (!entry) continue
    const [, oldMode, newMode, status] = entry
    const first = parts[++at]!
    const renamed = status === 'R' || status === 'C'
    const path = renamed ? parts[++at]! : first
    const { added = 0, removed = 0, binary = false } = counts.get(path) ?? {}
    const how = renamed ? 'renamed' : status === 'A' ? 'new' : status === 'D' ? 'deleted' : 'changed'
    const file: ChangedFile = { path, how, added, removed, hunks: [] }
    if (renamed) file.from = first
    if (oldMode === submodule || newMode === submodule) file.submodule = true
    else if (binary) file.unread = 'a binary file'
    else if (isSecretName(path)) file.unread = 'its name says that it holds keys, so its lines are not shown'
    else if (generated.test(basename(path))) file.unread = 'a generated file'
    else if (added + removed > mostLines) file.unread = `${added + removed} changed lines are too many to be shown`
    files.set(path, file)
  }
  return [...files.values()]
}

/** The hunks of each file in a patch. `cut`: the last file of the patch is incomplete, and is left out. */
function patchesIn(patch: string, cut: boolean): Map<string, Hunk[]> {
  // Only a line feed begins a line: a carriage return in a changed line must not begin a file.
  const sections = patch.split(/(?<=\n)(?=diff --git )/)
  const found = new Map<string, Hunk[]>()
  for (const section of cut ? sections.slice(0, -1) : sections) {
    const head = section.slice(0, section.indexOf('\n@@ ') + 1)
    const [, old] = /^--- (.+)$/m.exec(head) ?? []
    const [, now] = /^\+\+\+ (.+)$/m.exec(head) ?? []
    if (old === undefined || now === undefined) continue
    const path = pathIn(now === '/dev/null' ? old : now)
    // A link that became a file has two sections: the old one is removed, and the new one is added.
    found.set(path, [...(found.get(path) ?? []), ...hunksIn(section.slice(head.length), now === '/dev/null')])
  }
  return found
}

/** Parses a name in git's form: without its prefix, and in quotes if it has unusual characters. */
function pathIn(written: string): string {
  const plain = written.replace(/\t$/, '')
  if (!plain.startsWith('"')) return plain.slice(2)
  const bytes: number[] = []
  const escapes: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' }
  for (const [, octal, escaped, text] of plain.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs))
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else bytes.push(...Buffer.from(text ?? escapes[escaped!] ?? escaped!))
  return Buffer.from(bytes).toString().slice(2)
}

function hunksIn(text: string, deleted: boolean): Hunk[] {
  const hunks: Hunk[] = []
  let at = 0
  for (const line of text.split('\n')) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line)
    if (header) {
      const [from, count] = (deleted ? [header[1], header[2]] : [header[3], header[4]]).map((part) => Number(part ?? 1))
      at = from!
      hunks.push({ title: header[5]!, from: from!, to: from! + Math.max(1, count!) - 1, lines: [] })
      continue
    }
    const [sign, rest] = [line[0], line.slice(1)]
    if (sign !== '+' && sign !== '-' && sign !== ' ') continue
    const isGone = sign === '-' && !deleted
    hunks.at(-1)?.lines.push({ sign, text: rest.replace(/\r$/, ''), ...(isGone ? {} : { at: at++ }) })
  }
  return hunks
}

/** Files that git neither tracks nor ignores: all of their lines are new. */
async function untracked(git: Git, root: string): Promise<ChangedFile[]> {
  const list = await checkedGit(git, root, ['ls-files', '--others', '--exclude-standard', '-z'])
  const paths = list
    .toString()
    .split('\0')
    .filter((path) => path !== '')
  const files: ChangedFile[] = []
  for (const [at, path] of paths.entries()) {
    const file: ChangedFile = { path, how: 'new', added: 0, removed: 0, hunks: [] }
    if (path.endsWith('/')) file.unread = 'another repository inside this one'
    else if (isSecretName(path)) file.unread = 'its name says that it holds keys, so its lines are not shown'
    else if (generated.test(basename(path))) file.unread = 'a generated file'
    else if (at >= mostUntracked) file.unread = 'there are too many new files'
    else Object.assign(file, await newLines(join(root, path)))
    files.push(file)
  }
  return files
}

async function newLines(path: string): Promise<Partial<ChangedFile>> {
  // A link would lead out of the project, and a pipe would never end.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  try {
    const stats = await file?.stat()
    if (!file || !stats?.isFile()) return { unread: 'a link, or a file that cannot be read' }
    if (stats.size > mostUntrackedBytes) return { unread: `${stats.size} bytes are too many to be shown` }
    const bytes = await file.readFile()
    if (bytes.includes(0)) return { unread: 'a binary file' }
    const lines = bytes.toString().split(/\r?\n/)
    if (lines.at(-1) === '') lines.pop()
    if (lines.length > mostLines)
      return { added: lines.length, unread: `${lines.length} lines are too many to be shown` }
    if (lines.length === 0) return {}
    const hunk: Hunk = {
      title: '',
      from: 1,
      to: lines.length,
      lines: lines.map((text, at) => ({ sign: '+', text, at: at + 1 })),
    }
    return { added: lines.length, hunks: [hunk] }
  } finally {
    await file?.close()
  }
}

/** The changes in the form for a model, with the number of each line; `room`: the most characters. */
export function changesText(files: readonly ChangedFile[], room: number): { text: string; unshown: number } {
  const shown: string[] = []
  const named: string[] = []
  let [left, unshown] = [room, 0]
  for (const file of files) {
    if (file.unread !== undefined || file.hunks.length === 0) {
      named.push(`${headOf(file)}${file.unread === undefined ? '' : `: ${file.unread}`}`)
      continue
    }
    const pieces: string[] = []
    // One file must not use up the room of all others.
    let own = Math.min(left, Math.max(room / 4, left / 2))
    for (const hunk of file.hunks) {
      const piece = hunkText(hunk)
      if (piece.length > own) break
      own -= piece.length
      left -= piece.length
      pieces.push(piece)
    }
    const rest = file.hunks.length - pieces.length
    if (rest > 0) unshown++
    if (pieces.length === 0) named.push(`${headOf(file)}: not shown here, because the diff is too large`)
    else {
      const more = `(${rest} more ${rest === 1 ? 'part' : 'parts'} of this file changed and ${rest === 1 ? 'is' : 'are'} not shown here)`
      shown.push([headOf(file), ...pieces, ...(rest > 0 ? [more] : [])].join('\n'))
    }
  }
  const names = named.slice(0, 500)
  if (named.length > names.length) names.push(`and ${named.length - names.length} more files`)
  const other = names.length > 0 ? [['Changed files whose lines are not here:', ...names].join('\n')] : []
  return { text: [...shown, ...other].join('\n\n'), unshown }
}

function headOf({ path, from, how, added, removed }: ChangedFile): string {
  return `=== ${path} (${how}${from === undefined ? '' : ` from ${from}`}, +${added} -${removed})`
}

function hunkText({ title, lines }: Hunk): string {
  const rows = lines.map(({ sign, text, at }) => `${(at === undefined ? '' : String(at)).padStart(5)} ${sign}${text}`)
  return [`@@ ${title}`.trimEnd(), ...rows].join('\n')
}
