/**
 * A text before a yes, with every control character spelled out: taken away, a backspace would take what stands
 * before it along, and something else would be allowed than what was seen.
 */
export function visible(text: string): string {
  return text.replaceAll(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
