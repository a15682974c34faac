import type { Closing } from '../desk/chat-desk.ts'

type Source = NonNullable<Closing['source']>

/** The time since something began, in whole seconds, because it is repainted often. */
export function elapsed(ms: number): string {
  return ms < 10_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms)
}

/** A duration: `0.4 s`, `12 s`, `3 min 20 s`, `1 h 05 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`
  const whole = Math.floor(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`
}

/** A number of tokens; one that no agent reported is marked as approximate. */
export function tokens(count: number, source: Source): string {
  return `${about(source)}${shortCount(count)} tokens`
}

export function cost(dollars: number, source: Source): string {
  return `${about(source)}$${dollars < 0.1 ? dollars.toFixed(3) : dollars.toFixed(2)}`
}

export function lineCounts({ added, removed }: { added: number; removed: number }): string {
  return `+${added} −${removed}`
}

/** The framework of a turn, and how many other agents were called. */
export function thoughtWords({ framework, calls }: NonNullable<Closing['thought']>): string[] {
  return [framework, ...(calls === 0 ? [] : [`${calls} ${calls === 1 ? 'call' : 'calls'}`])]
}

const about = (source: Source) => (source === 'reported' ? '' : '~')

/** A count in a few characters: `950`, `12.4k`, `10.0M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

const two = (n: number) => String(n).padStart(2, '0')

/** Says what went wrong, and when the next attempt follows. */
export function retryWords({ words, until = 0 }: { words: string; until?: number }, now: number): string {
  return `${words.replace(/\.$/, '')}. ${againWords(until, now)}.`
}

export const againWords = (until: number, now: number) =>
  until > now ? `Trying again in ${elapsed(until - now + 999)}` : 'Trying again now'
