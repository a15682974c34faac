import type { Strategy } from '../core/work/strategy.ts'

/** Who is asked in which order: `position` is who answered last, `first` goes before all. */
export function order(
  names: readonly string[],
  o: { strategy: Strategy; position?: string; first?: string; random(): number },
): string[] {
  const line = inTurn(names, o)
  if (o.first === undefined || !line.includes(o.first)) return line
  return [o.first, ...line.filter((name) => name !== o.first)]
}

function inTurn(names: readonly string[], o: { strategy: Strategy; position?: string; random(): number }): string[] {
  if (o.strategy === 'random') return shuffled(names, o.random)
  // Someone who left the roster has no place in it: the line starts at its head.
  const at = o.position === undefined ? -1 : names.indexOf(o.position)
  const start = at < 0 ? 0 : o.strategy === 'round-robin' ? at + 1 : at
  return [...names.slice(start), ...names.slice(0, start)]
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const line = [...names]
  for (let i = line.length - 1; i > 0; i--) {
    const j = Math.min(i, Math.floor(random() * (i + 1)))
    ;[line[i], line[j]] = [line[j]!, line[i]!]
  }
  return line
}
