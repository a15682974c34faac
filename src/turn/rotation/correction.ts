import { isForeign, requestOf } from '../select/request-text.ts'

/** A first sentence that can only mean that the answer before it was wrong; it uses the words of `requestOf`. */
const plainly = [
  // "No, that is wrong." "That was not right at all!" Without the "no" a pronoun must stand for the answer: "the port is wrong" does not.
  '(no|nope|sorry)? ?,? ?(that|this|it|your (answer|fix|change|solution|code)) (is|was) (still )?(just |simply |plainly |completely |totally |all )?(wrong|incorrect|not (right|correct|true|it|working)|broken now)( at all)?',
  '(no|nope)? ?,? ?(that|this|it) (is|was) not what i (asked|meant|wanted|said)( you)?( for| to do)?',
  '(no|nope)? ?,? ?(that|this|it|your (fix|change|solution)) (did|does) not (work|help|fix (it|that|this|anything|the \\w+)|solve (it|that|anything))( at all| either)?',
  '(no|nope)? ?,? ?(it|that|this) (still|again) (fails|crashes|breaks|hangs|does not (work|compile|build|start|run))',
  '(no|nope)? ?,? ?(it|that|this) (is|does) still (broken|failing|crashing|wrong|not (work|working|fixed|right))',
  '(the )?(tests?|build) (still (fails?|breaks?)|(is|are) still (failing|broken|red))( now)?',
  'still (broken|failing|wrong|not (working|fixed|right)|the same (error|problem|failure|bug))',
  'you (just )?(broke|have broken) (it|that|this|everything|the (build|tests?|app|site|page|code))',
  'you (misunderstood|got (it|that|this) wrong|did not (do|fix|change|answer) (it|that|this|what i (asked|said|wanted)( for)?|anything))( me)?',
  '(please )?(undo|revert|roll back) (that|this|it|your (last )?(change|changes|edit|edits)|what you (just )?did)',
  '(wrong|incorrect)( again| answer)?',
]
const corrects = new RegExp(`^ (${plainly.join('|')})(?= *([.!,;:-]|$))`)

/**
 * Each of the sentences contains one of these words. Most prompts contain none of them, and parsing a request with the rules takes
 * milliseconds.
 */
const mayCorrect =
  /\b(?:wrong|incorrect|not|still|again|broken?|misunderstood|undo|revert|roll|falsch|nicht|faux|pas|mal|es correcto|lo que|todav|sigue)\b|n['‘’]t\b/i

/** A few plain sentences in other languages that leave no doubt. */
const plainlyElsewhere =
  /^(nein[,.! ]+)?(das (ist|war) (falsch|nicht richtig|nicht das,? was ich wollte)|das hat nicht (funktioniert|geklappt)|(es|das) (geht|funktioniert) (immer noch|noch immer) nicht)(?=\s*([.!,;:]|$))|^(non[,.! ]+)?(c[’']est faux|ce n[’']est pas (ça|correct|bon)|ça ne (marche|fonctionne) toujours pas)(?=\s*([.!,;:]|$))|^(no[,.! ]+)?(eso (está mal|no es (correcto|lo que (pedí|quería)))|(todavía|sigue) (no funciona|sin funcionar|fallando))(?=\s*([.!,;:]|$))/iu

/**
 * Whether a prompt says plainly that the answer before it was wrong. A doubt, a question, a new wish or a report about something else is
 * not a correction.
 */
export function isCorrection(prompt: string): boolean {
  const typed = prompt.trim()
  if (!mayCorrect.test(typed)) return false
  if (/^[^.!\n]*\?/.test(typed)) return false
  const request = requestOf(typed)
  return (!isForeign(request) && corrects.test(request.text)) || plainlyElsewhere.test(typed)
}
