import type { Notice } from '../../core/talk/notice.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { titleOf } from '../../core/talk/notice.ts'

const longest = 200

/** What a terminal shows on the desktop, or rings for: each takes the sequence that it knows, and none shows the others. */
export function desktopBytes(notice: Notice, env: Readonly<Record<string, string | undefined>>): string {
  const [title, text] = [titleOf(notice), notice.text].map(plain)
  const sequences = [`\u001b]9;${title}: ${text}\u0007`, `\u001b]777;notify;${title};${text}\u0007`]
  return `${sequences.map((one) => (env.TMUX ? through(one) : one)).join('')}\u0007`
}

/** tmux passes on what is wrapped so. */
const through = (sequence: string) => `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`

/** On one line, without anything that could end the sequence or begin another one. */
function plain(text: string): string {
  return stripAnsi(text)
    .replaceAll(/[\u0000-\u001f\u007f-\u009f;\s]+/g, ' ')
    .trim()
    .slice(0, longest)
}
