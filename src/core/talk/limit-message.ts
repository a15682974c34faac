import { resetTime } from './reset-time.ts'

/** A line of a test runner, a compiler, a linter or a server's log. */
const lineOfTools = [
  /^\W*(?:FAIL(?:ED|URE)?\b(?!:)|PASS(?:ED)?\b|not ok\b|ok \d)/,
  / [›»>] | \.\.\. |\(\d+(?:\.\d+)? ?m?s\)|::test_/,
  /^\S+?[:(]\d+(?:[:,]\d+)?\)?(?::|\s|$)/,
  /\berror(?:\[E\d+\]|:? TS\d+|:? CS\d+)/,
  /^\W*(?:warn(?:ing)?|info|debug|trace|note)\b/i,
  /"?\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \//,
]

/** Error messages of a program or its tests, whatever names they mention. */
const errorOfCode =
  /\b(?:Assert\w*|Type|Reference|Syntax|Name|Key|Index|Attribute|Import|ModuleNotFound|ZeroDivision)Error\b|\bexpect(?:ed|s|\()|\bassert|\bcannot (?:find|import|read|resolve|open|use)\b|\bis not (?:defined|a function|assignable|exported)\b|\b(?:undeclared|undefined|unresolved|unknown (?:option|argument|command|type|name)|missing|no such|not found|no module|out of range)\b|\b(?:ENOENT|EADDRINUSE|ECONNREFUSED|ENOTFOUND|EACCES)\b|\bcould not resolve\b/i

/** Limits that waiting does not lift. */
const lastingLimit =
  /\b(?:disk|file|memory|heap|stack|call|recursion|depth|nesting|time|timeout|size|length|line|retry|step|turn|iteration|connection|process|thread|cpu|body|upload|complexity|coverage|context)s? (?:[a-z]+ ){0,2}(?:limit|quota)\b/gi

const lead = String.raw`[[⚠✗✖❌×■! \uFE0F]{0,3}`
const spent = '(?:exceeded|reached|hit|exhausted|used up|spent|gone)'
const spends = '(?:exceed(?:s|ed|ing)?|reached|hit|exhausted|used up|used all(?: of)?|(?:run|ran) out of|out of)'
const allowance = 'limits?|quotas?|credits|free usage'
const ofProvider =
  '(?:usage|rate|requests?|(?:\\d+|five)-hour|hourly|daily|weekly|monthly|session|plan|account|api|spending|billing|credit|premium|your)'

/** A sentence that begins by saying that a limit is used up. */
const statement = new RegExp(
  `^${lead}(?:(?:sorry, )?you(?:['’]ve| have)? ${spends}\\b[^.]{0,60}?\\b(?:limit|quota|credits|requests|tokens)s?(?: reached| exceeded)?` +
    `|(?:your |the )?(?:[\\w-]+ ){0,3}(?:${allowance}) (?:has been |have been |was |is |are )?${spent})`,
  'i',
)

/**
 * The parts of a message that may follow such a sentence: which limit, until when, and what to do. Any other text means that somebody
 * only writes about limits.
 */
const remedy =
  /^(?:(?:please|it|this|they|you can|you will|or|and|then|will|your \w+)\s+)*(?:try again|resets?\b|retry\b|renews?\b|upgrade\b|wait\b|add\b|check\b|see\b|visit\b|purchase\b|contact\b|switch\b|come back|regain\b|https?:|(?:for|until|on|at|in|by)\s|\d{10,13}$|\()/i

/** Every message about a limit contains one of these; most lines do not. */
const mayStateLimit =
  /limit|quota|credit|requests|tokens|free usage|allowance|\b429\b|RESOURCE_EXHAUSTED|resource has been exhausted/i

/** A status 429 that is the status of a request, a provider's own name for a used-up limit, or a clause that says that it is used up. */
const clauses = [
  /\b429:? too many requests\b|\btoo many requests\b/i,
  new RegExp(
    `^${lead}(?:\\[?(?:\\w+ )?(?:error|panic)(?: code)?[:,]? )?429(?: status code\\b|\\s*[-:,]?\\s*(?:$|[{(]|try again|retry|wait|slow down))`,
    'i',
  ),
  /\b(?:status|(?:error|status) code)[ :=]{1,2}429\b|\berror 429\b|\bHTTP(?:\/[\d.]+)? 429\b|\(429\)|["'](?:code|status)["']: ?429\b/i,
  /\bRateLimit(?:Error|Exceeded)?\b(?=:|$)|\b(?:rate_limit(?:_error|_exceeded|ed)|insufficient_quota|quota_exceeded|usage_limit_reached|RESOURCE_EXHAUSTED|QuotaError)\b/,
  /\brate[- ]limited\b|\bresource has been exhausted\b|\bcredit balance is too low\b|\binsufficient (?:credits?|quota)\b|\b(?:have|has) no (?:quota|credits)\b|\bpossible quota limitations\b/i,
  new RegExp(
    `\\b(?:quotas?|credits|free usage|rate[- ]limit|${ofProvider} (?:[\\w-]+ )?limits?) (?:has been |have been |was |is |are )?${spent}\\b`,
    'i',
  ),
  new RegExp(
    `\\b${spends}(?: [\\w'’-]+){0,3}? (?:quota|credits|allowance|capacity on this model|rate[- ]limit|${ofProvider} (?:[\\w-]+ ){0,2}limits?)(?=\\W|$)`,
    'i',
  ),
]

/** Whether a line by itself says that a limit is used up. */
export function statesLimit(line: string): boolean {
  if (!mayStateLimit.test(line) || line.search(lastingLimit) >= 0) return false
  const [said] = statement.exec(line) ?? []
  if (said === undefined) return false
  const rest = line.slice(line.indexOf(said) + said.length).split(/[.!·∙;|,]\s*(?=\S|$)|\s[-–—]\s/)
  return rest.map((part) => part.trim()).every((part) => part === '' || /^[.!:)]+$/.test(part) || remedy.test(part))
}

/** Text after this many characters of a line counts as data. */
const longestRead = 4_000

/**
 * Whether a line reports that a provider's limit is used up. The words alone prove nothing, because files, tests, ports and line numbers
 * contain them too.
 */
export function reportsLimit(whole: string): boolean {
  const line = whole.slice(0, longestRead)
  if (!mayStateLimit.test(line) || isOfCode(line)) return false
  const text = withoutNames(line).replaceAll(lastingLimit, ' ')
  return statesLimit(line) || clauses.some((clause) => clause.test(text))
}

const isOfCode = (line: string) => lineOfTools.some((shape) => shape.test(line)) || errorOfCode.test(line)

/** Leaves out addresses, paths, and the names of files and hosts with a line or a port. */
const withoutNames = (line: string) =>
  line.replaceAll(
    /\b\w+:\/\/[^\s"'<>]+|[^\s"']*[/\\][^\s"']*|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{1,4}\b(?::\d+)*|\b[\w.-]+\.\d+:\d+|\blocalhost:\d+/gi,
    ' ',
  )

/** A status that providers use for a limit or a bill, or an allowance next to a word that says that nothing of it is left. */
const doubts = [
  /\b(?:status|code|HTTP)\W{0,3}(?:402|429)\b|\((?:402|429)\)|\bpayment required\b/i,
  /(?=.*\b(?:limit(?:s|ed)?|quotas?|credits?|allowance|allotment|subscription|plan|balance|billing|usage)\b).*\b(?:exceed\w*|exhaust\w*|reached|hit|used up|gone|spent|over|out of|no more|none|expired|insufficient|too low|upgrade|renew\w*|top up)\b/i,
  /\b(?:try again|come back) (?:later|in|at|after|tomorrow)\b/i,
]

/** The exit of a program that a signal or its own error stopped: no provider's limit does that. */
const brokenEnd = /\bwas killed by\b|\bexit code (?:12[6-9]|1[3-9]\d|2\d\d)\b/

/** Whether a person has to decide what a failure means, because its message and its exit code leave real doubt. */
export function mayMeanLimit(message: string, now: number): boolean {
  const at = message.indexOf(': ')
  if (at < 0 || brokenEnd.test(message.slice(0, at))) return false
  const words = message.slice(at + 2, longestRead)
  if (isOfCode(words)) return false
  const text = withoutNames(words).replaceAll(lastingLimit, ' ')
  return doubts.some((doubt) => doubt.test(text)) || resetTime(words, now) !== undefined
}
