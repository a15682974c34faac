/** Failure messages of an agent that a person has explained: either as a spent quota, or as ordinary errors. */
export type LearnedMessages = { quota: readonly string[]; fault: readonly string[] }

/** A record with the learned messages of each agent. */
type WithLearned = { learned?: Record<string, LearnedMessages> }

const nothing: LearnedMessages = { quota: [], fault: [] }

/** An agent's oldest messages are forgotten, so that the record stays small. */
const mostMessages = 40

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const weekdays = 'mon|tue|wed|thu|fri|sat|sun'
const dayWord = new RegExp(String.raw`\b(?:${months}|${weekdays})[a-z]*\b`, 'g')

/** Returns a message without the parts that change from day to day: numbers, dates and identifiers. */
export function shapeOf(message: string): string {
  return message
    .toLowerCase()
    .replaceAll(/\b(?=[\w-]*\d)[\w-]{8,}/g, '#')
    .replaceAll(/\d+/g, '#')
    .replaceAll(dayWord, '@')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
}

export function learnedAs(health: WithLearned, name: string, message: string): keyof LearnedMessages | undefined {
  const { quota, fault } = messagesOf(health, name)
  const shape = shapeOf(message)
  return quota.includes(shape) ? 'quota' : fault.includes(shape) ? 'fault' : undefined
}

/** Remembers the meaning of a message; the person's latest answer counts. */
export function learn<H extends WithLearned>(health: H, name: string, message: string, as: keyof LearnedMessages): H {
  const shape = shapeOf(message)
  const before = messagesOf(health, name)
  const without = {
    quota: before.quota.filter((one) => one !== shape),
    fault: before.fault.filter((one) => one !== shape),
  }
  const after = { ...without, [as]: [...without[as], shape].slice(-mostMessages) }
  return { ...health, learned: { ...health.learned, [name]: after } }
}

function messagesOf({ learned = {} }: WithLearned, name: string): LearnedMessages {
  return Object.hasOwn(learned, name) ? learned[name]! : nothing
}

const isTexts = (found: unknown) => Array.isArray(found) && found.every((one) => typeof one === 'string')

/** Whether a stored record of learned messages is valid. */
export function isLearned(found: unknown): found is Record<string, LearnedMessages> {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return false
  return Object.values(found).every(
    (one) => typeof one === 'object' && one !== null && isTexts(one.quota) && isTexts(one.fault),
  )
}
