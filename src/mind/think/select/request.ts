/** A request as the heuristics read it: words in small letters, without what is quoted, pasted or a path. */
export type Request = {
  /** Single spaces between words, one around the whole: ` why is my build failing ? `. */
  text: string
  words: readonly string[]
  /** The same from its first meaningful word on: without "please", "can you", "I want you to". */
  core: string
  /** As it was typed. */
  whole: string
}

export function requestOf(whole: string): Request {
  const bare = shortened(whole, longest)
    .replace(/[‘’]/g, "'")
    .replace(/```[\s\S]*?(```|$)/g, ' QUOTED ')
    .replace(/"[^"\n]*"|“[^”\n]*”|`[^`\n]*`/g, ' QUOTED ')
    .replace(/(^|\s)(@?[~.]{0,2}\/?[\w@-]+(\/[\w.@-]+)+|[\w-]*\.[a-z][\w.]*[a-z\d](?=[\s,;:?!)]|$))/gi, '$1 FILE')
  const words = bare.match(/QUOTED|FILE|[\p{L}\p{N}_'+#-]+|[?!:,.;]/gu) ?? []
  const lower = words.flatMap((word) =>
    (word === 'QUOTED' || word === 'FILE' ? word : spoken(word.toLowerCase())).split(' '),
  )
  const text = ` ${lower.join(' ')} `
  return {
    text,
    words: lower.filter((word) => /[\p{L}\p{N}]/u.test(word)),
    core: withoutManners(text),
    whole,
  }
}

/** A pasted log is not what is wanted: that is said before it or behind it. */
const longest = 1200

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}`
}

/** Contractions are two words, so that each list of words needs one form. */
function spoken(word: string): string {
  return word
    .replace(/^(can't|cannot)$/, 'can not')
    .replace(/^won't$/, 'will not')
    .replace(/n't$/, ' not')
    .replace(/'re$/, ' are')
    .replace(/'ll$/, ' will')
    .replace(/'ve$/, ' have')
    .replace(/'d$/, ' would')
    .replace(/'m$/, ' am')
    .replace(/^(what|who|where|how|it|that|there|here|let)'s$/, '$1 is')
}

const manners =
  /^ (please|hey|hi|ok|okay|so|now|then|also|and|just|first|next|quickly|kindly|go and|try to|let is|help me( to)?|(can|could|would|will) (you|we)( please)?|(i|we) (would like|want|need|have)( you)? to|you should|,|\.|!|:) /

function withoutManners(text: string): string {
  for (let core = text; ;) {
    const next = core.replace(manners, ' ')
    if (next === core || next.trim() === '') return core
    core = next
  }
}

/** A test for any of these words or phrases, whole: `fail(s|ed)?` does not find "failsafe". */
export function sign(...words: string[]): (text: string) => boolean {
  const any = new RegExp(`(?<= )(${words.join('|')})(?= )`)
  return (text) => any.test(text)
}

/** The same at the beginning. */
export function opens(...words: string[]): (text: string) => boolean {
  const any = new RegExp(`^ (${words.join('|')})(?= )`)
  return (text) => any.test(text)
}
