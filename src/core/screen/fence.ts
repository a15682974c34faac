import { sha256 } from '../../base/hash.ts'

/** Six hex digits that a turn's marks carry. Made from its id alone, so that whoever takes the turn up after a crash knows them. */
export function nonceOf(turn: string): string {
  return sha256().update(turn).digest('hex').slice(0, 6)
}

/** The marks around an agent's final answer: new for each turn, and alone on their lines, so an echo does not count. */
export function fenceMarks(nonce: string): { open: string; close: string } {
  return { open: `[termaite-response-${nonce}]`, close: `[/termaite-response-${nonce}]` }
}

export function fenceInstruction(nonce: string): string {
  const { open, close } = fenceMarks(nonce)
  return `When you are done, give your final answer between a line that holds only ${open} and a line that holds only ${close}.`
}

/** The text inside the last closed fence, if there is one. */
export function findFence(text: string, nonce: string): { answer: string } | undefined {
  const { open, close } = fenceMarks(nonce)
  const lines = text.split('\n')
  const isMark = (mark: string) => (line: string) => line.trim() === mark
  const end = lines.findLastIndex(isMark(close))
  const start = lines.slice(0, Math.max(end, 0)).findLastIndex(isMark(open))
  if (end < 0 || start < 0) return undefined
  return {
    answer: lines
      .slice(start + 1, end)
      .join('\n')
      .trim(),
  }
}
