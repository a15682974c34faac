import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { bulkQuestion, dataProcessing } from './data.ts'
import { largeFeature } from './feature.ts'
import { found } from './finding.ts'
import { opens, sign } from './request.ts'
import { delicate, destroys, errorName, explores, open, questions, trouble } from './signs.ts'

/** Nothing but a nod, a greeting, or a pick among what was just said. */
const nods = new Set(
  (
    'yes yep yeah yup no nope ok okay k sure please thanks thank you thx cheers hello hi hey there go on ahead continue carry do it that this try again retry once more stop wait next proceed ' +
    'the a first second third fourth last other one option choice sounds good great perfect nice fine cool right exactly correct undo revert and then now both all keep going same never mind nevermind morning afternoon evening night day approach way agreed approved lgtm done i agree with you'
  ).split(' '),
)

/** A program's own line, as it would be typed at a shell. */
const shell =
  /^ (git|npm|npx|yarn|pnpm|cargo|docker|kubectl|ls|cd|pwd|cat|grep|rg|curl|wget|python3?|node|pip3?|mkdir|touch|cp|mv|echo|ps|df|du|top|whoami|uname|chmod|brew|apt|apt-get|tsc|pytest|jest|eslint|prettier)( (?!the|my|this|a|an|for|to|is|and )\S+)* $/

/** One tool, and it is done. */
const single = opens(
  '(run|rerun|execute|start|restart|stop|kill|close|quit|open|show|list|print|display|cat|tail|read|view|see|tell me|say|give me the|go to|cd|checkout|check out|switch|turn (on|off)|enable|disable|mute|unmute|toggle|set (the|my) (volume|brightness|timer|alarm|theme)|bump|commit|push|pull|fetch|stash|merge (main|master|the branch)|rebase|tag|format|lint|save|copy|paste|undo|revert|redo|rename|translate|spell|define|explain|describe|what time|ping|mkdir|touch|lower|raise|increase the (volume|brightness)|play|pause|lock (the|my) screen|shut down|reboot)',
)

/** An edit that is read in one glance. */
const edits = opens(
  '(add|insert|append|prepend|put|remove|delete|drop|change|replace|fix|correct|update|rename|move|swap|capitali[sz]e|uppercase|lowercase|indent|create|make|set|sort|write|bump|use)',
)
const small = sign(
  'typos?|spelling|misspelling|grammar|wording|comments?|docstrings?|prefix|suffix|(blank|empty|new|this|that|last|first) lines?|line|whitespace|indentation|semicolons?|commas?|brackets?|imports?|FILE from FILE|console|print statements?|log statements?|variable|constant|parameter|argument|heading|title|label|placeholder|copyright|license|year|version( number)?|changelog entry|link|icon|colou?r|font|margin|padding|button text|empty (file|folder|directory)|(file|folder|directory) (called|named)|dependenc(y|ies)|devdependencies|script to package|gitignore|todo|flag|hello world|readme badge|badge|trailing \\w+',
)

/** A bulk change or a list of things is no small edit. */
const broad = sign(
  'every(thing|where)?|all|across|throughout|whole|entire|whenever|support|system|each (page|module|service)',
)

/** What is asked costs a look, not a thought. */
const wonders = sign(
  'how (many|much|old|big|long|far|often)|what (is|are|was|does|do|did|time|day|version|port)|which (version|file|files|branch|port|line|directory|folder|function|one)|where|who|when|whose',
)

export function trivial(request: Request): Finding | undefined {
  const { text, words, core, whole } = request
  if (words.length <= 6 && words.length > 0 && words.every((word) => nods.has(word)))
    return found('direct', 0.95, 'a follow-up')
  if (trouble(text) && !single(core) && !isEdit(request)) return undefined
  if (destroys(text) || errorName.test(whole)) return undefined
  if (shell.test(core)) return found('direct', 0.9, 'a command')
  if (isEdit(request)) return found('direct', 0.85, 'a small edit')
  if (
    single(core) &&
    !open(text) &&
    !dataProcessing(request) &&
    !/ and (?!show|print|tell|commit|push|fix|resolve|stop|close)\w+ /.test(core) &&
    words.length <= 14
  )
    return found('direct', 0.85, 'one step')
  if (questions(core) && wonders(core) && !open(text) && !explores(core) && !bulkQuestion(text) && !trouble(text))
    return found('direct', 0.8, 'a question of fact')
  if (questions(core) && !open(text) && !trouble(text) && !delicate(text) && !bulkQuestion(text) && words.length <= 10)
    return found('direct', 0.7, 'a short question')
  return undefined
}

const isEdit = (request: Request) =>
  edits(request.core) &&
  small(request.core) &&
  (!broad(request.core) || / (each|every) line /.test(request.core)) &&
  !largeFeature(request)
