import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const folder = join(import.meta.dirname, '../fixtures/repos')

/** The next call of the model, and the result that it must be told. */
export type Step = { tool: string; input: unknown; told: Told; lines: string[] }
export type Told = { ok: boolean; text: string }

/**
 * A small repository whose tests fail, and the story of their repair, in one text: the prompt, the files (`-- path --`),
 * then calls (`>> run …`) each with its result (`<< ok`). Results are written anew with UPDATE_GOLDEN=1.
 */
export type Repo = {
  name: string
  language: string
  prompt: string
  files: Record<string, string>
  story: Step[]
  answer: string
}

/** The programs that must be installed for each language. */
export const needs: Record<string, string[]> = {
  javascript: ['node'],
  typescript: ['node'],
  python: ['python3'],
  bash: ['bash'],
  perl: ['perl'],
  c: ['make', 'cc'],
}

export function allRepos(): Repo[] {
  return readdirSync(folder)
    .sort()
    .map((file) => parsed(basename(file, '.txtar'), readFileSync(join(folder, file), 'utf8')))
}

type Part = { head: string; body: string[] }

const marks = /^(?:-- .+ --|>> .+|<< (?:ok|failed))$/

function parsed(name: string, text: string): Repo {
  const parts: Part[] = [{ head: '', body: [] }]
  for (const line of text.replace(/\n$/, '').split('\n'))
    if (marks.test(line)) parts.push({ head: line, body: [] })
    else parts.at(-1)!.body.push(line)
  const repo: Repo = {
    name,
    language: name.split('-')[0]!,
    prompt: parts[0]!.body.join('\n'),
    files: {},
    story: [],
    answer: '',
  }
  for (const { head, body } of parts.slice(1)) {
    const [mark, verb = '', ...rest] = head.split(' ')
    if (mark === '--') repo.files[verb] = fileText(body, rest[0] === 'crlf' ? '\r\n' : '\n')
    else if (mark === '<<') repo.story.at(-1)!.told = { ok: verb === 'ok', text: body.join('\n') }
    else if (verb === 'say') repo.answer = rest.join(' ')
    else
      repo.story.push({ ...called(verb, rest.join(' '), body), told: { ok: false, text: '' }, lines: [head, ...body] })
  }
  return repo
}

const fileText = (lines: readonly string[], end: string) => lines.map((line) => line + end).join('')

function called(verb: string, what: string, body: readonly string[]): Pick<Step, 'tool' | 'input'> {
  if (verb === 'run') return { tool: 'bash', input: { command: what } }
  if (verb === 'read') return { tool: 'file_reader', input: { file_path: what } }
  if (verb === 'create') return { tool: 'file_creator', input: { file_path: what, content: fileText(body, '\n') } }
  if (verb === 'edit') return { tool: 'file_editor', input: { file_path: what, edits: edits(body.join('\n')) } }
  const [tool = '', ...json] = what.split(' ')
  return { tool, input: JSON.parse(json.join(' ')) }
}

function edits(body: string) {
  return [...body.matchAll(/<{7}\n([^]*?)\n={7}\n([^]*?)\n>{7}/g)].map(([, old_string, new_string]) => ({
    old_string,
    new_string,
  }))
}

/** Lays the repository's files out in a folder; all of one age, because some lists are sorted by it. */
export function layOut({ files }: Repo, root: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    utimesSync(join(root, path), 1_000_000_000, 1_000_000_000)
  }
}

/** Writes the story anew with what the model was really told. */
export function rewrite({ name, story, answer }: Repo, told: readonly Told[]): void {
  const path = join(folder, `${name}.txtar`)
  const [before] = readFileSync(path, 'utf8').split(/^(?=>> )/m)
  const steps = story.flatMap(({ lines }, index) => {
    const { ok, text } = told[index]!
    return [...lines, ok ? '<< ok' : '<< failed', ...(text === '' ? [] : [text])]
  })
  writeFileSync(path, `${before}${[...steps, `>> say ${answer}`].join('\n')}\n`)
}
