import type { Terminal } from '../core/screen/terminal.ts'

const rows = 2_000

/** So much of a prompt's longest line tells it from others. */
const telling = 60

/**
 * Whether a terminal shows a prompt, or has shown it: by its mark, or by its own words where it carries none. Rows are
 * joined without their spaces, because a screen folds and indents them.
 */
export async function showsPrompt(terminal: Terminal, mark: string, prompt: string): Promise<boolean> {
  const shown = dense((await terminal.history(rows)).join(''))
  const lines = prompt.split('\n').map(dense)
  const longest = lines.reduce((one, other) => (other.length > one.length ? other : one), '')
  return shown.includes(mark) || (longest !== '' && shown.includes(longest.slice(0, telling)))
}

const dense = (text: string) => text.replaceAll(/\s+/g, '')
