import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { found } from './finding.ts'
import { opens, sign } from './request.ts'
import { reshapesCode } from './signs.ts'

/** Verbs that are about data whatever follows. */
export const openData = opens(
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

/** One answer for each of many. */
export const bulkQuestion = sign('make a (table|chart|list|report)|(each|every|per) \\w+|by \\w+ type')

/** Data goes in, data comes out: easier to program than to talk about. */
export function dataProcessing({ text, core, whole }: Request): Finding | undefined {
  if (reshapesCode(core)) return undefined
  if (openData(core)) return found('script', 0.85, 'data to work through')
  if (!maybeData(core) || piece(core)) return undefined
  const named = data(text) || /\.(csv|tsv|jsonl?|xml|ya?ml|xlsx?|log|txt|parquet|html?)\b/i.test(whole)
  return (named && (many(text) || formats(text))) || (asksMany(core) && bulkQuestion(text))
    ? found('script', 0.8, 'data to work through')
    : undefined
}

/** A piece of one file, as `tail` gives it. */
const piece = sign('(last|first) (few |\\d+ )?lines')

const asksMany = opens('(what|which|who|how (much|many|often|long)|make|show|list)')
const formats = sign('(csv|tsv|json|jsonl|xml|yaml|xlsx|excel|parquet|html)( file)? (to|into|as) .*')
