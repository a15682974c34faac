import type { Shape } from './shape.ts'

/** A word, or an object that names one place to send to: each says what is wrong with it in its own words. */
export function notifierOf<W, O>(word: Shape<W>, object: Shape<O>): Shape<W | O> {
  return {
    words: `${word.words}, { "ntfy": <url> } or { "command": <command> }`,
    schema: { anyOf: [word.schema, { ...object.schema, oneOf: [{ required: ['ntfy'] }, { required: ['command'] }] }] },
    check(value, path) {
      if (typeof value === 'string') return word.check(value, path)
      const wrong = object.check(value, path)
      if (wrong) return wrong
      const { ntfy, command } = value as { ntfy?: string; command?: string }
      if ((ntfy === undefined) === (command === undefined))
        return { path, words: 'found no place to send to, or two; "ntfy" or "command" is needed' }
      if (ntfy !== undefined && !/^https?:$/.test(URL.parse(ntfy)?.protocol ?? ''))
        return {
          path: [...path, 'ntfy'],
          words: `found ${JSON.stringify(ntfy)}, allowed: the http(s) address of a topic`,
        }
      return undefined
    },
  }
}
