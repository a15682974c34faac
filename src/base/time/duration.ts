const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const

/** Parses a duration in the usual form for files and flags, such as `90s`, `15m`, `1h30m` or `2d`; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,6}[dhms])+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  )
}

/** Formats a duration in the same form, to the second: `1h30m`. */
export function durationText(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1000)) * 1000
  const parts = Object.entries(units).flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? [`${count}${unit}`] : []
  })
  return parts.join('') || '0s'
}
