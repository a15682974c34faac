import type { TaskCheck, TaskTry } from '../../../hub/model/tasks/task-try.ts'
import { useMemo, useState } from 'preact/hooks'
import { sizeWords } from '../../../base/text/size-words.ts'
import type { HubRequest } from '../hub/page-request.ts'
import { request } from '../hub/page-request.ts'
import { outputLines, outputParts } from '../words/ansi-text.ts'
import { openText } from '../hub/page-connection.ts'
import { VirtualList } from '../lists/virtual-list.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { durationWords } from '../words/words.ts'

/** How many characters of one line of output, and of a whole output, are shown. */
const longestLine = 5_000
const longestOutput = 5_000_000

const hasPassed = ({ exit }: TaskCheck) => exit === 0

/** Formats the number of checks: "2 checks passed, 1 failed", or a sentence if nothing was checked. */
function evidenceWords(checks: readonly TaskCheck[]): string {
  const passed = checks.filter(hasPassed).length
  const failed = checks.length - passed
  if (checks.length === 0) return 'No evidence: nobody ran a check of this try.'
  const words = (number: number, what: string) => `${number} ${number === 1 ? 'check' : 'checks'} ${what}`
  if (failed === 0) return `${words(passed, 'passed')}.`
  return passed === 0 ? `${words(failed, 'failed')}.` : `${words(passed, 'passed')}, ${failed} failed.`
}

/** The checks of a try: each command, its result, and who reports it. */
export function Evidence({ task, tried }: { task: string; tried: TaskTry }) {
  const checks = tried.checks ?? []
  return (
    <section class="evidence" aria-labelledby="evidence-title">
      <h3 id="evidence-title">Evidence</h3>
      <p class={checks.some((check) => !hasPassed(check)) ? 'bad' : checks.length === 0 ? 'why' : 'good'}>
        {evidenceWords(checks)}
      </p>
      {checks.map((check, at) => (
        <Check
          key={at}
          check={check}
          kept={request('GET /api/tasks/:id/tries/:number/checks/:check/output', {
            id: task,
            number: tried.number,
            check: at + 1,
          })}
        />
      ))}
    </section>
  )
}

function Check({ check, kept }: { check: TaskCheck; kept: HubRequest }) {
  const { command, exit, why, ms, output, whole, ranBy } = check
  const [all, setAll] = useState<string>()
  const [trouble, setTrouble] = useState('')
  const passed = hasPassed(check)
  const read = () => {
    readOutput(kept).then(setAll, (error: unknown) =>
      setTrouble(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <details class="check" open={!passed}>
      <summary>
        <span class={passed ? 'good' : 'bad'}>{passed ? '✓ passed' : '✗ failed'}</span>{' '}
        <code>
          <VisibleWords text={command} />
        </code>{' '}
        <span class="quiet">
          {exit === undefined ? (why ?? 'did not end') : `exit ${exit}`} · {durationWords(ms)} ·{' '}
          {ranBy === 'termaite' ? 'termaite ran this' : 'the agent says so; termaite did not see it run'}
        </span>
      </summary>
      <Output text={all ?? output} />
      {trouble === '' ? null : <p role="alert">{trouble}</p>}
      {whole && all === undefined ? (
        <button type="button" onClick={read}>
          Show all of the output ({sizeWords(whole.bytes)})
        </button>
      ) : null}
    </details>
  )
}

/** Reads as much of an output as a page can show. */
async function readOutput(whole: HubRequest): Promise<string> {
  const response = await openText(whole)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += value
    if (text.length > longestOutput) {
      void reader.cancel()
      return `${text.slice(0, longestOutput)}\n… The output is longer than ${sizeWords(longestOutput)}; the rest is not shown here.`
    }
  }
}

function Output({ text }: { text: string }) {
  const lines = useMemo(() => outputLines(text), [text])
  if (lines.length === 0) return <p class="quiet">It printed nothing.</p>
  return (
    <VirtualList
      label="Output"
      class="output"
      scrolls="itself"
      count={lines.length}
      keyAt={String}
      order={lines}
      estimate={20}
    >
      {(at) => <OutputLine line={lines[at]!} />}
    </VirtualList>
  )
}

function OutputLine({ line }: { line: string }) {
  const shown = line.length > longestLine ? `${line.slice(0, longestLine)} …` : line
  return (
    <code>
      {outputParts(shown).map(({ text, colour, bold }, at) => (
        <span key={at} class={`${colour === undefined ? '' : `ansi-${colour}`} ${bold ? 'bold' : ''}`}>
          <VisibleWords text={text} />
        </span>
      ))}
    </code>
  )
}
