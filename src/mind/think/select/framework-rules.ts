import type { Framework } from '../../../core/talk/framework.ts'
import type { Request } from './request-text.ts'
import { opens, sign } from './request-text.ts'
import {
  changes,
  delicate,
  destroys,
  errorName,
  explores,
  fixes,
  inquires,
  makes,
  open,
  outcome,
  questions,
  removes,
  reshapesCode,
  trouble,
  wishes,
  works,
} from './word-lists.ts'

/** A framework, how sure the words make it (0 to 1), and why in a short phrase. */
export type RuleMatch = { framework: Framework; confidence: number; why: string }

export const match = (framework: Framework, confidence: number, why: string): RuleMatch => ({
  framework,
  confidence,
  why,
})

/** A nod, a greeting, or a pick among the options that were just named. */
const nods = new Set(
  (
    'yes yep yeah yup no nope ok okay k sure please thanks thank you thx cheers hello hi hey there go on ahead continue carry do it that this try again retry once more stop wait next proceed ' +
    'the a first second third fourth last other one option choice sounds good great perfect nice fine cool right exactly correct undo revert and then now both all keep going same never mind nevermind morning afternoon evening night day approach way agreed approved lgtm done i agree with you'
  ).split(' '),
)

/** A command line, as it is typed at a shell. */
const shell =
  /^ (git|npm|npx|yarn|pnpm|cargo|docker|kubectl|ls|cd|pwd|cat|grep|rg|curl|wget|python3?|node|pip3?|mkdir|touch|cp|mv|echo|ps|df|du|top|whoami|uname|chmod|brew|apt|apt-get|tsc|pytest|jest|eslint|prettier)( (?!the|my|this|a|an|for|to|is|and )\S+)* $/

/** One tool call does it. */
const single = opens(
  '(run|rerun|execute|start|restart|stop|kill|close|quit|open|show|list|print|display|cat|tail|read|view|see|tell me|say|give me the|go to|cd|checkout|check out|switch|turn (on|off)|enable|disable|mute|unmute|toggle|set (the|my) (volume|brightness|timer|alarm|theme)|bump|commit|push|pull|fetch|stash|merge (main|master|the branch)|rebase|tag|format|lint|save|copy|paste|undo|revert|redo|rename|translate|spell|define|explain|describe|what time|ping|mkdir|touch|lower|raise|increase the (volume|brightness)|play|pause|lock (the|my) screen|shut down|reboot)',
)

/** An edit that is seen at one glance. */
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

/** A question that costs a look, not a thought. */
const asksForFact = sign(
  'how (many|much|old|big|long|far|often)|what (is|are|was|does|do|did|time|day|version|port)|which (version|file|files|branch|port|line|directory|folder|function|one)|where|who|when|whose',
)

export function trivial(request: Request): RuleMatch | undefined {
  const { text, words, core, whole } = request
  if (words.length <= 6 && words.length > 0 && words.every((word) => nods.has(word)))
    return match('direct', 0.95, 'a follow-up')
  if (trouble(text) && !single(core) && !isEdit(request)) return undefined
  if (destroys(text) || errorName.test(whole)) return undefined
  if (shell.test(core)) return match('direct', 0.9, 'a command')
  if (isEdit(request)) return match('direct', 0.85, 'a small edit')
  if (
    single(core) &&
    !open(text) &&
    !dataProcessing(request) &&
    !/ and (?!show|print|tell|commit|push|fix|resolve|stop|close)\w+ /.test(core) &&
    words.length <= 14
  )
    return match('direct', 0.85, 'one step')
  if (questions(core) && asksForFact(core) && !open(text) && !explores(core) && !bulkQuestion(text) && !trouble(text))
    return match('direct', 0.8, 'a question of fact')
  if (questions(core) && !open(text) && !trouble(text) && !delicate(text) && !bulkQuestion(text) && words.length <= 10)
    return match('direct', 0.7, 'a short question')
  return undefined
}

const isEdit = (request: Request) =>
  edits(request.core) &&
  small(request.core) &&
  (!broad(request.core) || / (each|every) line /.test(request.core)) &&
  !largeFeature(request)

/** Something is wrong, and the cause is not known. */
export function debugging(request: Request): RuleMatch | undefined {
  const { text, core, whole } = request
  if (inquires(core)) return match('sequential', 0.9, 'looking for a cause')
  const wrong = trouble(text) || errorName.test(whole)
  if (fixes(core)) {
    if (wrong) return match('sequential', 0.9, 'something to fix')
    return delicate(text) || destroys(text) ? undefined : match('sequential', 0.7, 'something to fix')
  }
  // "Add error handling" names trouble, and has none.
  if (makes(core) || changes(core) || removes(core) || explores(core) || open(text) || wishes(text)) return undefined
  if (dataProcessing(request)) return undefined
  if (wrong) return match('sequential', 0.85, 'something does not work')
  return describesTrouble(core) && !questions(core) ? match('sequential', 0.65, 'a problem is described') : undefined
}

/** A request that only describes a state reports trouble; one that says what is wanted does not, unless the state differs from it. */
const describesTrouble = (core: string) => states(core) && !hopes(core) && (!wanted(core) || differs(core))

const states = opens(
  '(the|my|our|this|that|these|those|it|there|something|somebody|someone|nobody|nothing|i|we|users|people|everyone|everything|some) .*\\w+ \\w+',
  '(?!(make|check|see|ensure|be|if|when) )\\w+( \\w+)? (is|are|was|were|gets?|got|has|keeps?|goes|stays?|says?|said|complains?|can not|will not|do not|does not|never|always) .*\\w+',
  '(clicking|pressing|opening|running|loading|starting|saving|typing) .*\\w+ \\w+',
  'it (worked|works|used to) .*\\w+',
)
const wanted = sign('should|shall|must|ought to|needs? to|has to|have to')
const differs = sign('but|instead|however|yet|although|though|not')
const hopes = opens('(i|we) (want|need|would|wish|prefer|think|like|plan|am (thinking|looking)|are (thinking|looking))')

/** A product with parts of its own: schema, logic, screens. */
const product = sign(
  '(app|application|apps|site|website|web ?page generator|platform|dashboard|portal|panel|game|engine|blog|shop|store|marketplace|board|editor|compiler|interpreter|cli|framework|network|clone|crm|cms|wiki|forum|chatbot|bot|browser|emulator|operating system|database engine|package manager|plugin system|job queue|scheduler|pipeline|microservices?|backend|frontend|full-stack|fullstack|mobile (app|version)|desktop app|extension|web ui|api with|version of this (app|site))',
)

/** A feature that reaches into every part of a product. */
const crosscutting = sign(
  '(authentication|login|log-in|sign-?in|sign-?up|registration|user accounts|roles|multi-?tenancy|internationali[sz]ation|i18n|locali[sz]ation|dark mode|offline|real-?time|collaboration|notifications?|search|comments?|billing|subscriptions|payments|undo and redo|plugins?|multiple languages|multi-language|accessibility|analytics|caching layer|support for multiple \\w+|rate limiting|sso)',
)
const inProduct = sign(
  '(to|in|into|across|throughout|for|on) (the|this|our|my|a) (whole |entire )?(app|application|product|platform|site|website|editor|project|codebase|system|frontend|backend|service|api|game|web app|game)',
)

const sweeping = sign(
  'from scratch|whole|entire|full(-stack)?|complete|end-to-end|production-ready|throughout|across the \\w+|the whole spec|spec in FILE',
)

/** A list of three things or more. */
const enumeration = / \w+( \w+){0,3} , (\w+ ){1,4}(, (\w+ ){1,4})*(,)? ?and \w+/

const reshapes = opens('(port|rewrite|rebuild|re-?implement|redesign|split|convert|migrate|turn|transform)')
const codebase = sign(
  'codebase|(whole|entire) \\w+|frontend|backend|monolith|website|web app|the app|app from|into (micro)?services|microservices|prototype|site',
)

const wants = opens('(i|we) (want|need|would like) (users|people|customers|everyone|visitors|admins|a|an|our)')

export function largeFeature({ text, core }: Request): RuleMatch | undefined {
  if (destroys(text)) return undefined
  if (reshapes(core) && codebase(core)) return match('decompose', 0.8, 'a whole code base changes')
  if (!makes(core) && !wants(core)) return undefined
  if (crosscutting(core) && inProduct(core)) return match('decompose', 0.85, 'a feature with many parts')
  if (enumeration.test(core)) return match('decompose', 0.8, 'several parts at once')
  // "Make the site faster" builds nothing.
  if (product(core) && !/^ make the .* \w+er /.test(core) && builds(core))
    return match('decompose', 0.8, 'something whole to build')
  if (crosscutting(core) && / (and|with|by) /.test(core)) return match('decompose', 0.75, 'a feature with many parts')
  return sweeping(core) && builds(core) ? match('decompose', 0.7, 'something whole to build') : undefined
}

/** Whether the product itself is made, and not only something beside it, as in "a test for the editor". */
function builds(core: string): boolean {
  const object = core.replace(/ (for|in|of|to|from|that|which|on) .*$/, ' ')
  return product(object) || sweeping(core) || crosscutting(object)
}

/** The work must be right the first time. */
export function safetyCritical({ text, core }: Request): RuleMatch | undefined {
  if (destroys(text)) return match('reflect', 0.9, 'it cannot be undone')
  if (!delicate(text)) return undefined
  // A request that only reads and computes breaks nothing.
  return questions(core) || openData(core) ? undefined : match('reflect', 0.8, 'it must be right')
}

/** Verbs that are about data whatever follows. */
const openData = opens(
  '(parse|extract|count|sum|add up|total|tally|calculate|compute|aggregate|average|deduplicate|dedupe|simulate|plot|graph|group|filter|scrape|crunch|interpolate|enumerate|rank|bucket|tabulate|anonymi[sz]e|work out (how|the|when|which)|(look|go|walk|search) through (all|every|the|these|my|our)|(draw|make|create|generate) an? (table|chart|graph|plot|histogram|list) (of|from|with))',
)
const maybeData = opens(
  '(sort|merge|join|combine|find|list|show|collect|gather|grab|take|get|pull|fetch|strip|convert|transform|translate|reformat|rename|validate|check|compare|diff|generate|split|turn|make|determine|measure|estimate|figure out how|replace|search|read|map|match|normali[sz]e|clean|shuffle|pick out|(what|which|who|how (much|many|often|long)) .*)',
)
const data = sign(
  'csv|tsv|json|jsonl|xml|html|yaml|xlsx|excel|spreadsheets?|parquet|columns?|rows|records|entries|lines|logs?|table|dates|timestamps|numbers|words?|word list|names|titles|codes|emails?|addresses|urls?|links?|phone numbers|datasets?|data|statistics|medians?|averages?|mean|percentiles?|percent|permutations|combinations|primes|anagrams|duplicates?|hash(es)?|ips?|ids|rates|files|filenames|folders|directories|images|pages|processes|functions|commits|requests|results|values|items',
)
const many = sign(
  'all|every|each|these|those|per|by (their |its |the )?\\w+|top (ten|five|\\d+)|\\d{2,}|(two|both|ten|five|twenty) \\w+|(longest|largest|biggest|smallest|slowest|newest|oldest|shortest)|most( common)?|duplicates?|in (the|this) (word list|list|column)|column',
)

/** One answer for each of many things. */
const bulkQuestion = sign('make a (table|chart|list|report)|(each|every|per) \\w+|by \\w+ type')

/** Data goes in and data comes out: easier to program than to discuss. */
export function dataProcessing({ text, core, whole }: Request): RuleMatch | undefined {
  if (reshapesCode(core)) return undefined
  if (openData(core)) return match('script', 0.85, 'data to work through')
  if (!maybeData(core) || partOfFile(core)) return undefined
  const named = data(text) || /\.(csv|tsv|jsonl?|xml|ya?ml|xlsx?|log|txt|parquet|html?)\b/i.test(whole)
  return (named && (many(text) || formats(text))) || (asksMany(core) && bulkQuestion(text))
    ? match('script', 0.8, 'data to work through')
    : undefined
}

/** A part of one file, as `tail` gives it. */
const partOfFile = sign('(last|first) (few |\\d+ )?lines')

const asksMany = opens('(what|which|who|how (much|many|often|long)|make|show|list)')
const formats = sign('(csv|tsv|json|jsonl|xml|yaml|xlsx|excel|parquet|html)( file)? (to|into|as) .*')

export function exploring({ text, core }: Request): RuleMatch | undefined {
  if (open(text) || (explores(core) && !reshapesCode(core))) return match('consensus', 0.8, 'more than one way')
  return wishes(text) || (outcome(core) && !questions(core))
    ? match('consensus', 0.7, 'an outcome, by any means')
    : undefined
}

/** Most of what a coder asks for is none of the above: one agent does it in one turn. */
export function ordinary({ core }: Request): RuleMatch | undefined {
  return works(core) || reshapesCode(core) || questions(core) ? match('direct', 0.6, 'one piece of work') : undefined
}
