import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Store } from '../core/talk/store.ts'
import type { Session } from '../store/index/conversation-index.ts'
import { stripAnsi } from '../base/text/ansi.ts'
import { fenceText } from '../base/text/markdown-fence.ts'
import { oneLine } from '../base/text/table.ts'
import { localTime } from '../base/time/local-time.ts'
import { maskedEntry } from '../border/vendor-border.ts'
import { wholeEntry } from '../core/talk/body.ts'
import { summaryWords } from '../core/talk/compaction.ts'
import { remarkOf } from '../core/talk/notice.ts'
import { failureSentence } from '../core/talk/outcome.ts'
import { cutWords } from '../core/talk/shown-words.ts'
import { importedBodies } from '../home/imported-sessions.ts'
import { maskWithin } from '../safety/redaction.ts'

type ExportParts = { store: Store; mask(text: string): string }

/** Writes a session as one file, with long bodies read back from their blobs and secrets masked. */
export async function* exportSession(
  session: Session,
  entries: Iterable<Entry> | AsyncIterable<Entry>,
  { store, mask }: ExportParts,
  format: string,
): AsyncGenerator<string> {
  const bodies = session.log === undefined ? `projects/${session.project}/output` : importedBodies(session.project)
  const blobs = store.blobs(bodies)
  const whole = async (entry: Entry) => maskedEntry(await wholeEntry(entry, blobs).catch(() => entry), mask)
  if (format === 'jsonl') {
    for await (const entry of entries) yield `${JSON.stringify(await whole(entry))}\n`
    return
  }
  if (format === 'json') {
    const { begins: _begins, ends: _ends, ...rest } = session
    const about = maskWithin(rest, mask) as typeof rest
    const head = JSON.stringify({ ...about, entries: [] }, null, 2)
    let separator = ''
    yield head.slice(0, head.lastIndexOf(']'))
    for await (const entry of entries) {
      yield `${separator}\n${JSON.stringify(await whole(entry), null, 2).replaceAll(/^/gm, '    ')}`
      separator = ','
    }
    yield separator === '' ? ']\n}\n' : '\n  ]\n}\n'
    return
  }
  const title = session.name ?? oneLine(mask(session.first ?? session.id), 80)
  const times = `${localTime(session.started)} to ${localTime(session.last)}`
  // Each part is cleaned of escape sequences by itself, so that none can hide the parts after it.
  yield `${stripAnsi(`# ${title}`)}\n\n${stripAnsi(session.path ?? session.project)}, ${times}\n`
  for await (const entry of entries) yield stripAnsi(markdown(await whole(entry)))
}

function markdown(entry: Entry): string {
  const head = `\n## ${entry.by}, ${localTime(entry.at)}\n\n`
  switch (entry.type) {
    case 'prompt':
    case 'steer':
    case 'reply':
      return `${head}${entry.text.trim()}\n`
    case 'words':
      return `${head}${entry.text.trim()}\n${entry.from || entry.cut ? `\n> ${wordsNote(entry)}\n` : ''}`
    case 'summary':
      return `\n## ${entry.step === undefined ? 'Summary of everything before' : summaryWords(entry)}\n\n${entry.text.trim()}\n`
    case 'call':
      return `\n${fenceText(`${entry.by} called ${entry.tool}\n${typeof entry.input === 'string' ? entry.input : JSON.stringify(entry.input, null, 2)}`)}\n`
    case 'result':
      return `\n${fenceText(`${entry.ok ? 'result' : 'failed'}\n${entry.text.trim()}`)}\n`
    case 'attempt':
      return `\n> ${oneLine(failureSentence(entry.by, entry.failure), 500)}\n`
    case 'end':
      return entry.outcome.ok ? '' : `\n> ${endWords(entry.outcome.failure)}\n`
    default: {
      const remark = remarkOf(entry)
      return remark === undefined ? '' : `\n> ${oneLine(remark, 500)}\n`
    }
  }
}

function endWords({ kind, message }: Failure): string {
  const how = kind === 'unfinished' ? 'The turn was' : 'The turn ended without an answer:'
  return `${how} ${oneLine(message, 500)}`
}

function wordsNote({ by, cut, from }: EntryOf<'words'>): string {
  const how = cut && `${cutWords[cut]}`
  const asked = from && `${by} was only consulted (${from.join(', ')})`
  return [asked, how].filter((part) => part !== undefined).join('; ')
}
