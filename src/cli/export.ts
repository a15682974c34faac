import type { Entry } from '../core/talk/entry.ts'
import type { Store } from '../core/talk/store.ts'
import type { Session } from '../store/index/index.ts'
import { stripAnsi } from '../base/ansi.ts'
import { wholeEntry } from '../core/talk/body.ts'
import { moment } from '../base/moment.ts'
import { oneLine } from '../base/table.ts'

/** A session as one file, every cut body whole again. */
export async function* exported(
  session: Session,
  entries: readonly Entry[],
  store: Store,
  format: string,
): AsyncGenerator<string> {
  const blobs = store.blobs(`projects/${session.project}/output`)
  const whole = (entry: Entry) => wholeEntry(entry, blobs).catch(() => entry)
  if (format === 'jsonl') {
    for (const entry of entries) yield `${JSON.stringify(await whole(entry))}\n`
    return
  }
  if (format === 'json') {
    const { begins: _begins, ends: _ends, ...about } = session
    yield `${JSON.stringify({ ...about, entries: await Promise.all(entries.map(whole)) }, null, 2)}\n`
    return
  }
  yield `# ${session.name ?? oneLine(session.first ?? session.id, 80)}\n\n${session.path ?? session.project}, ${moment(session.started)} to ${moment(session.last)}\n`
  for (const entry of entries) yield stripAnsi(markdown(await whole(entry)))
}

function markdown(entry: Entry): string {
  const head = `\n## ${entry.by}, ${moment(entry.at)}\n\n`
  switch (entry.type) {
    case 'prompt':
    case 'steer':
    case 'reply':
      return `${head}${entry.text.trim()}\n`
    case 'summary':
      return `\n## Summary of all before\n\n${entry.text.trim()}\n`
    case 'call':
      return `\n${fenced(`${entry.by} called ${entry.tool}\n${typeof entry.input === 'string' ? entry.input : JSON.stringify(entry.input, null, 2)}`)}\n`
    case 'result':
      return `\n${fenced(`${entry.ok ? 'result' : 'failed'}\n${entry.text.trim()}`)}\n`
    case 'attempt':
      return `\n> ${entry.by} tried and failed: ${entry.failure.kind}: ${oneLine(entry.failure.message, 500)}\n`
    case 'note':
      return `\n> ${oneLine(entry.text, 500)}\n`
    case 'end':
      return entry.outcome.ok
        ? ''
        : `\n> The turn ended without an answer: ${oneLine(entry.outcome.failure.message, 500)}\n`
    default:
      return ''
  }
}

/** A fence longer than any inside it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
