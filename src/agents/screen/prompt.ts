import type { Entry } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { randomName } from '../../base/id.ts'
import { fenceInstruction } from '../../core/screen/fence.ts'
import { promptText, told } from '../../core/talk/transcript.ts'

/** Longer ones are put into a file, and the agent is told to read it. */
const longestPaste = 32 * 1024

/** What is pasted for a turn, and the text by which a journal knows it. */
export type Prompted = { text: string; mark: string; remove(): Promise<void> }

type Parts = { temp: string; nonce: string; fence: boolean }

/** A prompt as the agent is told it: as it was typed where it knows the rest, else with what it missed. */
export function wordsFor(turn: Turn, missed: readonly Entry[], name: string): string {
  const { prompt, attempts, steered } = turn
  const known = attempts.length === 0 && steered.length === 0 && missed.every((entry) => told(entry) === '')
  const words = known ? prompt : promptText({ agent: name, prompt, history: missed, attempts, steered })
  return words.trimEnd()
}

export async function prompted(words: string, { temp, nonce, fence }: Parts): Promise<Prompted> {
  const file = Buffer.byteLength(words) > longestPaste ? join(temp, `prompt-${nonce}-${randomName()}.md`) : undefined
  if (file !== undefined) {
    makeFolder(temp)
    await writeFile(file, `${words}\n`, { mode: 0o600 })
  }
  const body =
    file === undefined
      ? words
      : `Read the file ${file} to its end and do what it says: it is my message, which is too long to be pasted.`
  return {
    text: fence ? `${body}\n\n${fenceInstruction(nonce)}` : body,
    mark: fence ? nonce : longestLine(body),
    remove: async () => (file === undefined ? undefined : rm(file, { force: true })),
  }
}

const longestMark = 200

/** Without a nonce a prompt is known by the line of it that says most. */
function longestLine(text: string): string {
  return text
    .split('\n')
    .reduce((longest, line) => (line.trim().length > longest.length ? line.trim() : longest), '')
    .slice(0, longestMark)
}
