import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { isEntry } from '../core/talk/entry.ts'

/** So many lines of the log are looked through, and so many prompts recalled. */
const most = { lines: 20_000, prompts: 200 }

/** What was sent in a project before, over all its sessions, newest last and each once in a row. */
export async function pastPrompts(log: Log<Entry>): Promise<string[]> {
  const prompts: string[] = []
  let lines = 0
  for await (const { item } of log.back()) {
    if (++lines > most.lines || prompts.length >= most.prompts) break
    if (!isEntry(item) || (item.type !== 'prompt' && item.type !== 'steer')) continue
    const text = typedPrompt(item.text)
    if (prompts.at(-1) !== text) prompts.push(text)
  }
  return prompts.reverse()
}
