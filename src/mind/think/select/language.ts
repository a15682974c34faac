import type { Request } from './request.ts'

/** Words that hardly a sentence does without, each in one language only. */
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

/** Whether the words say nothing to these lists, because they are another language's. */
export function isForeign({ words }: Request): boolean {
  const letters = words.join('')
  if (/[^\p{Script=Latin}\p{N}\p{P}\p{S}]/u.test(letters)) return true
  const plain = words.map((word) => word.normalize('NFD').replace(/\p{M}/gu, ''))
  const known = plain.filter((word) => english.has(word)).length
  const strange = plain.filter((word) => others.has(word)).length
  const marked = words.filter((word) => /[^\p{ASCII}]/u.test(word)).length
  return strange + marked > known && strange + marked > 0
}
