/** A request, prepared for the rules: words in lower case, without quotes, pasted text and paths. */
export type Request = {
  /** The words, separated and surrounded by single spaces: ` why is my build failing ? `. */
  text: string
  words: readonly string[]
  /** `text` without opening phrases such as "please", "can you" and "I want you to". */
  core: string
  /** The request as it was typed. */
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

/** The actual request comes before or after a pasted log, not inside it. */
const longest = 1200

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}`
}

/** Splits contractions into two words, so that each word list needs one form. */
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

/** Returns a function that tests whether a text contains any of these whole words or phrases: `fail(s|ed)?` does not match "failsafe". */
export function sign(...words: string[]): (text: string) => boolean {
  const any = new RegExp(`(?<= )(${words.join('|')})(?= )`)
  return (text) => any.test(text)
}

/** Returns a function that tests whether a text begins with one of these words or phrases. */
export function opens(...words: string[]): (text: string) => boolean {
  const any = new RegExp(`^ (${words.join('|')})(?= )`)
  return (text) => any.test(text)
}

/** Words that occur in almost every sentence, each in one language only. */
const english = new Set(
  'the my this that these those to of is are it for with and from what why how which where who all i we you your our does not into by be can should at there have has'.split(
    ' ',
  ),
)

const others = new Set(
  [
    'der das dem den ein eine einen einer einem und ist sind nicht mit von wie warum wo bitte mein meine meinen ich wir auf fur zu zur zum mach schreibe erstelle',
    'le les une des est pas pour avec dans mon ma mes je nous pourquoi sur et ce cette du aux fais',
    'el los las una por para con mi mis que porque esta este y del al como haz crea anade',
    'il lo gli della nel perche mio questo non e che sono',
    'het een niet dit mijn waarom werkt ik naar voor maak',
    'jest nie sie na bazy dla',
    'uma meu minha nao em os isso',
  ].flatMap((words) => words.split(' ')),
)

/** Whether a request is in another language, which the word lists do not know. */
export function isForeign({ words }: Request): boolean {
  const letters = words.join('')
  if (/[^\p{Script=Latin}\p{N}\p{P}\p{S}]/u.test(letters)) return true
  const plain = words.map((word) => word.normalize('NFD').replace(/\p{M}/gu, ''))
  const known = plain.filter((word) => english.has(word)).length
  const strange = plain.filter((word) => others.has(word)).length
  const marked = words.filter((word) => /[^\p{ASCII}]/u.test(word)).length
  return strange + marked > known && strange + marked > 0
}
