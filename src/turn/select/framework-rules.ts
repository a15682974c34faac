import type { Framework } from '../../core/talk/framework.ts'
import type { Request } from './request-text.ts'
import { isNod, reportsTrouble } from './other-languages.ts'
import { opens, sign } from './request-text.ts'
import {
  codeNouns,
  dataNouns,
  delicateParts,
  destroyedThings,
  documentFormats,
  errorName,
  installations,
  openQuestions,
  products,
  strongTrouble,
  widePlaces,
} from './word-lists.ts'

/** A framework, and the reason in a short phrase. */
export type RuleMatch = { framework: Framework; why: string }

/**
 * Each rule names a framework only if the words leave no doubt. If no rule matches, nothing is guessed: the agent that answers sees the
 * conversation and the files, speaks the person's language, and can request thinking itself.
 */
type Rule = (request: Request) => RuleMatch | undefined

const match = (framework: Framework, why: string): RuleMatch => ({ framework, why })

/** A command line, typed as at a shell. */
const shell =
  /^ (git|npm|npx|yarn|pnpm|cargo|docker|kubectl|ls|cd|pwd|cat|grep|rg|curl|wget|python3?|node|pip3?|mkdir|touch|cp|mv|echo|ps|df|du|top|whoami|uname|chmod|brew|apt|apt-get|tsc|pytest|jest|eslint|prettier)( (?!the|my|this|a|an|for|to|is|and|says|fails|gives|prints|QUOTED )\S+)* $/

/** Requests that a single tool call fulfils. */
const single = opens(
  '(run|rerun|execute|start|restart|stop|kill|open|show|display|tail|read|tell me|go to|checkout|check out|switch to|turn (on|off)|enable|disable|mute|unmute|set (the|my) (volume|brightness|timer|alarm|theme)|bump|commit|push|pull|fetch|stash|rebase|format|lint|undo|revert|redo|rename|translate|define|explain|ping|play|pause|lock (the|my) screen)',
)

/** Edits that are small enough to be checked at a glance. */
const edits = opens(
  '(add|insert|append|prepend|put|remove|delete|drop|change|replace|fix|correct|update|rename|swap|capitali[sz]e|indent|bump)',
)
const small = sign(
  '(a |the |this |that |one )?(typos?|spelling|misspelling|comment|docstring|semicolon|comma|trailing (whitespace|comma|space)|(blank|empty) line|unused (import|variable)|console log|print statement|copyright year|version number|heading|badge)',
)

/** Questions that can be answered by looking at the project or the machine. */
const asksForFact = opens(
  '(what (is|are|was|does|time|day|version|port)|which (version|file|branch|port|line|folder|function)|where (is|are|do|does)|who (is|wrote|made)|when (is|was|did)|how (many|much|old|big|long) (is|are|lines|files|space|time))',
)

const manyThings = sign('\\d+|all|every|each|per|everything|both|by \\w+ (type|kind|user|month|day|size|name)')
const joins = / (and|then|but|or|so that|because) /

const trivial: Rule = ({ text, core, words, whole }) => {
  if (isNod(words)) return match('direct', 'a short reply')
  if (doubts(text) || errorName.test(whole)) return undefined
  if (shell.test(core)) return match('direct', 'a command')
  if (manyThings(core) || joins.test(core) || words.length > 9) return undefined
  if (edits(core) && small(core)) return match('direct', 'a small edit')
  if (single(core)) return match('direct', 'one step')
  return asksForFact(core) && !sign('should|would|could|can|best|better|cause|causes|causing|wrong')(text)
    ? match('direct', 'a question of fact')
    : undefined
}

/** Whether a request that looks short and simple contains words that suggest otherwise. */
const doubts = (text: string) =>
  strongTrouble(text) || destroyedThings(text) || delicateParts(text) || openQuestions(text)

const asksWhy = opens('(why|how come|what (is|could be|might be) (causing|making|the (cause|reason)))')
const inquires = opens(
  '(debug|diagnose|troubleshoot|bisect|(find out|figure out|investigate|look into|track down|analy[sz]e) (why|what (is )?(causes|causing|makes)|the (cause|reason|root cause)))',
)
const repairs = opens('(fix|repair|solve|resolve|get rid of)')
const wishes = sign('should|shall|must|ought to|needs? to|i (want|need|would|wish)|we (want|need|would|wish)')
const builds = opens(
  '(add|build|create|write|implement|make|develop|design|introduce|give|generate|handle|catch|log|show|display|refactor|rename|document|explain|translate|improve|set up|convert|test|cover)',
)

/** Something is wrong, and its cause is not known. */
const debugging: Rule = ({ text, core, whole }) => {
  const wrong = strongTrouble(text) || errorName.test(whole)
  if (inquires(core)) return match('sequential', 'the cause is not known')
  if (asksWhy(core)) return wrong ? match('sequential', 'the cause is not known') : undefined
  if (repairs(core)) return wrong && !isNamedFix(core) ? match('sequential', 'something to fix') : undefined
  if (builds(core) || wishes(text) || openQuestions(text) || !states(core)) return undefined
  return wrong ? match('sequential', 'something does not work') : undefined
}

/** The request already names the fix: "by adding", "with a", "so that". */
const isNamedFix = sign(
  'by \\w+ing|with (a|an|the)|instead of|so that|typos?|wording|message|messages|text|lint|eslint',
)

/** A statement about how something is, which asks for nothing. */
const states = opens(
  '(the|my|our|this|these|it|there|something|users|people|everyone|some|sometimes|every|when|whenever|after|since|i am|i keep|i get|we get|we keep) .*\\w+ \\w+',
)

const constructs = opens('(build|create|make|develop|implement|design|write|code|program)')

/** The object of a request, such as "a dashboard" in "build a dashboard with charts for the team". */
const objectOf = (core: string) =>
  ` ${core
    .trim()
    .split(/ (?:with|for|in|of|to|from|that|which|where|on|using|and|by|like|,|\.|:|;|\?|!)(?= |$)/)[0]!
    .trim()} `

const isNew = sign('a|an|my own|our own|another')
const spansProduct = sign(
  '(to|into|in|across|throughout|for|on) (the|this|our|my|an) (whole |entire |existing |web |mobile )?(app|application|product|platform|site|website|project|codebase|shop)',
)
const crosscutting = opens(
  '(add|implement|introduce|build|integrate) (user |full |complete |proper )?(authentication|login|sign-?in|sign-?up|registration|user accounts|roles( and permissions)?|multi-?tenancy|internationali[sz]ation|i18n|locali[sz]ation|offline (mode|support)|real-?time collaboration|billing|subscriptions|payments|undo and redo|a plugin system|plugins|support for multiple languages)',
)
const rewrites = opens('(port|rewrite|rebuild|re-?implement|migrate|split|convert|turn) (the|our|this|my)')

/** Something whole is to be built, in many parts. */
const largeFeature: Rule = ({ text, core }) => {
  if (openQuestions(text)) return undefined
  if (crosscutting(core) && spansProduct(core)) return match('decompose', 'a feature with many parts')
  if (rewrites(core) && widePlaces(core)) return match('decompose', 'a whole code base changes')
  const object = objectOf(core)
  return constructs(core) && isNew(object) && products(object)
    ? match('decompose', 'something whole to build')
    : undefined
}

const makesMigration = sign(
  '(write|create|add|generate|make|run|apply) (a|an|the|another|this|our|new)?( new)? ?((database|db|schema|sql|data|postgres|mysql) )?migrations?(?= ( |$|that|to|for|which|adding|renaming|dropping|on|,|\\.))',
)
const reworks = opens('(refactor|rewrite|rework|restructure|harden|clean up|secure|rotate|redesign|change|replace)')
const onLiveData = sign(
  '(on|in|to|from|against) (the |our )?(production|prod|live) (database|db|data|server|servers|system)',
)

/** Requests whose result must be right the first time. */
const safetyCritical: Rule = ({ text, core }) => {
  if (asksForFact(core) || asksWhy(core)) return undefined
  if (destroyedThings(text)) return match('reflect', 'this cannot be undone')
  if (openQuestions(text)) return undefined
  if (makesMigration(text)) return match('reflect', 'stored data changes')
  if (onLiveData(text)) return match('reflect', 'live data is touched')
  return reworks(core) && delicateParts(core) ? match('reflect', 'a mistake here is dangerous') : undefined
}

const computes = opens(
  '(parse|extract|count|sum up|sum|total|tally|calculate|compute|aggregate|average|deduplicate|dedupe|group|tabulate)',
)
const dataFile = /\.(csv|tsv|jsonl?|xml|xlsx?|log|parquet)\b/i

/** Requests to process data, which a script does more reliably than an agent by hand. */
const dataProcessing: Rule = ({ text, core, whole }) => {
  if (!computes(core) || codeNouns(text) || doubts(text)) return undefined
  return dataNouns(core) || dataFile.test(whole) ? match('script', 'data to work through') : undefined
}

const sets = opens('(set up|setup) (a|an|our|my|some)')
const converts = opens('(convert|turn) .*')

/** Several ways are possible, and one has to be chosen. */
const exploring: Rule = ({ text, core }) => {
  // A request that destroys data is not for the council, even if it asks for the best way.
  if (openQuestions(text)) return destroyedThings(text) ? undefined : match('consensus', 'several ways are possible')
  if (sets(core) && installations(objectOf(core.replace(/ (set up|setup) /, ' setup '))))
    return match('consensus', 'several ways are possible')
  return converts(core) && documentFormats(core) && !codeNouns(core)
    ? match('consensus', 'several ways are possible')
    : undefined
}

/** Matches a question in another language; only a few plain sentences are known. */
const foreignTrouble: Rule = ({ whole }) =>
  reportsTrouble(whole) ? match('sequential', 'the cause is not known') : undefined

/** The first rule that matches decides. */
export const englishRules: readonly Rule[] = [
  trivial,
  debugging,
  largeFeature,
  safetyCritical,
  dataProcessing,
  exploring,
]

/** The rules for requests in a language other than English. */
export const foreignRules: readonly Rule[] = [
  ({ words }) => (isNod(words) ? match('direct', 'a short reply') : undefined),
  foreignTrouble,
]
