import type { Asked } from '../real/model-server.ts'
import type { Repo, Step } from './repos.ts'
import { appendFileSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { structuredPatch } from 'diff'

export const mistakes = [
  'white space',
  'a stale read',
  'two matches',
  'a path outside',
  'no such tool',
  'forbidden',
] as const
export type Mistake = (typeof mistakes)[number]

/** The number of additional rounds that a mistake may cost a model that knows nothing but the tool's answer. */
export const mostExtra: Record<Mistake, number> = {
  'white space': 1,
  // The call that failed, and the reading.
  'a stale read': 2,
  'two matches': 1,
  'a path outside': 1,
  'no such tool': 1,
  // The model gives up at once.
  forbidden: 0,
}

type Edit = { old_string: string; new_string: string }
type Call = { tool: string; input: unknown }
type Said = { call: Call } | { text: string }

/** A repository whose story has no mistakes of its own; undefined where nothing is edited in it. */
export function flawless(repo: Repo): Repo | undefined {
  const story = repo.story.filter(({ tool, told }) => told.ok || tool === 'bash')
  return story.some(isEdit) ? { ...repo, story } : undefined
}

const isEdit = ({ tool }: Step) => tool === 'file_editor'

/** The file that the story edits first, where the mistake is made. */
export const editedFile = ({ story }: Repo) => (story.find(isEdit)!.input as { file_path: string }).file_path

/** A line that stands in a text twice: without one, no hunk fits in two places. */
export function lineTwice(text: string): string | undefined {
  const lines = text.split(/\r?\n/)
  return lines.find((one, i) => one.trim() !== '' && lines.indexOf(one, i + 1) > 0)
}

/**
 * A model that plays a repository's story, makes one usual mistake in it, and then does only what the tool's error tells it. It
 * changes files by texts to replace, or by patches.
 */
export class FaultyModel {
  extra = 0
  gaveUp = false
  #repo: Repo
  #mistake: Mistake
  #form: 'edits' | 'patch'
  #root: string
  #at = 0
  /** The call that is wanted, while an error is being recovered from. */
  #wanted: Step | undefined

  constructor(repo: Repo, mistake: Mistake, form: 'edits' | 'patch', root: string) {
    this.#repo = repo
    this.#mistake = mistake
    this.#form = form
    this.#root = root
  }

  answer(asked: Asked): Said {
    if (this.#wanted) {
      const said = resultIn(asked)
      if (!/^(?:Made|Changed) /.test(said)) return this.#recover(said, this.#wanted)
      this.#wanted = undefined
    }
    const step = this.#repo.story[this.#at++]
    if (!step) return { text: this.#repo.answer }
    if (!isEdit(step)) return { call: step }
    this.#wanted = step
    const isFaulty = this.#repo.story.findIndex(isEdit) === this.#at - 1
    return { call: isFaulty ? this.#faulty(step) : this.#edit(step) }
  }

  #faulty(step: Step): Call {
    const { file_path, edits } = step.input as { file_path: string; edits: Edit[] }
    if (this.#mistake === 'a path outside') return this.#edit(step, `/workspace/${file_path}`)
    if (this.#mistake === 'no such tool') return { ...this.#edit(step), tool: 'edit_file' }
    // Another program changes the file after the model has read it.
    if (this.#mistake === 'a stale read') appendFileSync(join(this.#root, file_path), '\n')
    if (this.#mistake === 'white space') return this.#edit(step, file_path, withOtherSpace)
    if (this.#mistake === 'two matches') {
      const text = this.#text(file_path)
      const [{ old_string }] = edits as [Edit]
      const twice = old_string
        .match(/\w+|\S/g)!
        .concat(...old_string.trim())
        .find((word) => text.split(word).length > 2)!
      if (this.#form === 'edits') return editCall(file_path, [{ old_string: twice, new_string: `${twice}_` }])
      return patchCall(file_path, [`-${lineTwice(text)}`, '+x'])
    }
    return this.#edit(step)
  }

  /** The right edit of a step, or one whose lines were changed by `spoil`. */
  #edit({ input }: Step, path?: string, spoil = (line: string) => line): Call {
    const { file_path, edits } = input as { file_path: string; edits: Edit[] }
    if (this.#form === 'edits')
      return editCall(
        path ?? file_path,
        edits.map((edit, i) => ({
          ...edit,
          old_string: i === 0 ? edit.old_string.split('\n').map(spoil).join('\n') : edit.old_string,
        })),
      )
    const before = this.#text(file_path)
    const after = edits.reduce((text, { old_string, new_string }) => text.replace(old_string, () => new_string), before)
    const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 2 })
    const lines = hunks.flatMap((hunk) => ['@@', ...hunk.lines.filter((line) => !line.startsWith('\\'))])
    const spoilt = lines.map((line) => (/^[- ]/.test(line) ? line[0] + spoil(line.slice(1)) : line))
    return patchCall(path ?? file_path, spoilt)
  }

  #text = (path: string) => readFileSync(join(this.#root, path), 'utf8').replaceAll('\r\n', '\n')

  /** Does what an error says, by its words alone. */
  #recover(error: string, wanted: Step): Said {
    const { file_path } = wanted.input as { file_path: string }
    const tools = /^There is no tool .+ Use one of: (.+)\.$/.exec(error)?.[1]
    const meant = /Did you mean (.+)\?/.exec(error)?.[1]
    const again = (call: Call): Said => {
      this.extra++
      return { call }
    }
    const edit = this.#edit(wanted, meant)
    if (tools?.split(', ').includes(edit.tool) || meant !== undefined) return again(edit)
    if (/Read it again|Read it with file_reader first/.test(error))
      return again({ tool: 'file_reader', input: { file_path } })
    // The reading that an error asked for is done.
    if (error.trim() === this.#text(file_path).trim()) return again(edit)
    if (/ places, (?:on|at) lines \d/.test(error)) return again(edit)
    const shown = error.match(/^\d+:.*$/gm)?.map((line) => line.replace(/^\d+:/, '')) ?? []
    if (shown.length > 0 && this.#isIn(shown, wanted)) return again(edit)
    this.gaveUp = true
    this.#wanted = undefined
    return { text: `I could not repair ${basename(file_path)}: ${error.split('\n')[0]}` }
  }

  /** Whether the lines that an error shows are enough to send the right edit. */
  #isIn(shown: readonly string[], { input }: Step): boolean {
    const { old_string } = (input as { edits: [Edit] }).edits[0]
    const text = shown.join('\n')
    return this.#form === 'edits'
      ? text.includes(old_string)
      : old_string.split('\n').some((line) => text.includes(line))
  }
}

/** A line as a careless model copies it: with tabs for spaces, or with another indentation. */
function withOtherSpace(line: string): string {
  if (/^\s/.test(line)) return `${line.match(/^\s+/)![0]}${line}`
  return /\S\s+\S/.test(line) ? line.replace(/(\S)\s+(\S)/, '$1   $2') : ` ${line}`
}

const editCall = (file_path: string, edits: Edit[]): Call => ({ tool: 'file_editor', input: { file_path, edits } })

function patchCall(path: string, lines: readonly string[]): Call {
  const hunks = lines[0] === '@@' ? lines : ['@@', ...lines]
  return {
    tool: 'apply_patch',
    input: { input: ['*** Begin Patch', `*** Update File: ${path}`, ...hunks, '*** End Patch'].join('\n') },
  }
}

/** The last result of a tool in a request, over the two wires that the proof uses. */
function resultIn({ body }: Asked): string {
  const last = body.messages?.at(-1).content.findLast(({ type }: { type: string }) => type === 'tool_result')
  if (last)
    return typeof last.content === 'string'
      ? last.content
      : last.content.map(({ text }: { text: string }) => text).join('')
  return body.input.findLast(({ type }: { type: string }) => type === 'function_call_output').output
}
