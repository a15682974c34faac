import { useState } from 'preact/hooks'

/** Lines of a diff that are drawn at once. */
const mostLines = 2_000

/** A unified diff with its added and removed lines marked; a long one is shown in parts. */
export function DiffText({ text }: { text: string }) {
  const [most, setMost] = useState(mostLines)
  const lines = text.split('\n')
  return (
    <>
      <pre class="diff">
        {lines.slice(0, most).map((line, at) => (
          <span key={at} class={kindOf(line)}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
      {lines.length > most ? (
        <button type="button" onClick={() => setMost(most + mostLines)}>
          Show more ({lines.length - most} lines)
        </button>
      ) : null}
    </>
  )
}

function kindOf(line: string): string {
  if (/^(?:diff|index|---|\+\+\+) /.test(line)) return 'file'
  return line.startsWith('@@') ? 'place' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''
}
