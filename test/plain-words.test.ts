import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { literal } from './literals.ts'

const root = join(import.meta.dirname, '..')

/**
 * How often each phrase is still used, by where it is used. The counts are sums over all files, so that moving a file changes
 * none of them. Names, keys and flags are not counted, because a text without a space is no sentence.
 */
const countsFile = join(import.meta.dirname, 'plain-words.json')

const subject =
  '(?:there|it|that|this|they|these|those|nobody|somebody|nothing|something|no|none|one|a|an|the|its|their|another|both|each|every|only)'

/** Phrases that are not idiomatic, each with the words to write instead. Some findings are right English: they stay counted. */
const phrases: Readonly<Record<string, { pattern: RegExp; instead: string; only?: string }>> = {
  where: {
    pattern: new RegExp(
      `(?:[,;(] |\\b(?:undefined|false|true|none|nothing|empty|only|also|even|except|but|and|or|too|not) )where ${subject}\\b` +
        `|(?<=^|[.:] )Where ${subject}\\b[^.,;:]*,`,
      'g',
    ),
    instead: 'if, when',
  },
  stands: { pattern: /\bstands?\b(?!-| (?:for|by)\b)/gi, instead: 'is, is in' },
  'is told': { pattern: /\b(?:is|are|was|were|be|been|being) told\b/gi, instead: 'is shown, gets, knows' },
  'is ended': {
    pattern: /\b(?:is|are|was|were|be|been|being|has|have|had)(?: \w+)? ended\b/gi,
    instead: 'expired, revoked, stopped, exited, closed',
  },
  'is none': { pattern: /\b(?:is|are|was|were|be) none\b/gi, instead: 'no …, none left' },
  'in words': { pattern: /\bin words\b/gi, instead: 'as text, as an error message' },
  anew: { pattern: /\banew\b/gi, instead: 'again' },
  'by and by': { pattern: /\bby and by\b/gi, instead: 'gradually' },
  mend: { pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: 'fix' },
  'hold to': { pattern: /\b(?:holds?|held|holding) to\b/gi, instead: 'conform to' },
  'ask about': { pattern: /\b(?:asks?|asked|asking) about\b/gi, instead: 'ask whether; the question' },
  'what it was asked': {
    pattern: /\bwhat (?:(?:it|they|he|she|one|somebody|the \w+) )?(?:was|is|were|are) asked\b/gi,
    instead: 'the question, the request',
  },
  'go by the name': {
    pattern: /\b(?:go(?:es)?|went|going) by (?:(?:the|its|their|this|that) )?(?:same )?names?\b/gi,
    instead: 'is named, is keyed by',
  },
  'ended by': {
    pattern: /\bended by (?:a signal|signal|SIG[A-Z]+|the person|termaite)\b/gi,
    instead: 'stopped, killed, revoked',
  },
  whoever: { pattern: /\bwhoever\b/gi, instead: 'the noun: the agent, the person' },
  'is no': {
    pattern:
      /\b(?:it|this|that|these|those|they|which|who|one|`code`) (?:is|are|was|were) no (?!longer\b|more\b|other\b|less\b|fewer\b|such\b|better\b|worse\b|need\b|use\b|reason\b|sign\b|help\b)[a-z]/gi,
    instead: 'is not a …',
  },
  'other … than': {
    pattern: /\b(?:another|other) (?:[\w-]+ ){1,2}than\b|\b(?:some|any|every)thing else than\b/gi,
    instead: 'a … other than, something other than',
  },
  'begins without a noun': {
    pattern: /^(?:What|Whatever|Whoever|It|They|Those|So many|The rest|The same (?:for|of|after|with|as|but|in))\b/g,
    instead: 'a verb, or the noun that the comment is about',
    only: 'comments',
  },
}

type Sentence = { file: string; line: number; text: string }

/** The comments or the texts of our code as plain sentences, without the signs around them. */
function sentencesIn(files: readonly string[], kinds: readonly ('comment' | 'text')[]): Sentence[] {
  return files.flatMap((file) => {
    const whole = readFileSync(join(root, file), 'utf8')
    return [...whole.matchAll(literal)].flatMap(({ groups, index }) =>
      kinds.flatMap((kind) => {
        const written = groups![kind]
        if (written === undefined) return []
        // Code inside a sentence: names in a comment, expressions in a template.
        const code = kind === 'comment' ? /`[^`]*`/g : /\$\{(?:[^{}]|\{[^{}]*\})*\}/g
        const text = written
          .replaceAll(code, '`code`')
          .replaceAll(/^\s*\*\/?|^\/\/|^\/\*+|\*+\/$|^['"`]|['"`]$/gm, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim()
        return text.includes(' ') ? [{ file, line: whole.slice(0, index).split('\n').length, text }] : []
      }),
    )
  })
}

const linesOf = (file: string): Sentence[] =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, text: text.replaceAll(/`[^`]*`/g, '`code`') }))

const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', 'docs/reference/**', 'test/fixtures/**'] })
    // This test names the phrases.
    .filter((file) => !file.startsWith('test/plain-words'))
    .sort()

test('phrases that are not idiomatic English become fewer, and the count follows', () => {
  const source = filesOf('src/**/*.{ts,tsx}')
  const places = {
    comments: sentencesIn(source, ['comment']),
    strings: sentencesIn(source, ['text']),
    docs: filesOf('*.md', 'docs/**/*.md', 'src/**/*.md')
      .filter((file) => file !== 'CHANGELOG.md')
      .flatMap(linesOf),
    tests: sentencesIn(filesOf('{test,bench,scripts}/**/*.ts'), ['comment', 'text']),
  }
  const allowed = JSON.parse(readFileSync(countsFile, 'utf8')) as Record<string, Record<string, number>>
  const counted: typeof allowed = {}
  const more: string[] = []
  for (const [name, { pattern, instead, only }] of Object.entries(phrases)) {
    counted[name] = {}
    for (const [place, sentences] of Object.entries(places)) {
      if (only !== undefined && only !== place) continue
      const found = sentences.flatMap((sentence) => [...sentence.text.matchAll(pattern)].map(() => sentence))
      counted[name][place] = found.length
      if (found.length <= (allowed[name]?.[place] ?? 0)) continue
      const changed = new Map(found.map(({ file }) => [file, statSync(join(root, file)).mtimeMs]))
      const newest = found.toSorted((a, b) => changed.get(b.file)! - changed.get(a.file)!).slice(0, 5)
      const listed = newest.map(({ file, line, text }) => `  ${file}:${line} ${text.slice(0, 160)}`)
      more.push(`"${name}" in ${place}: write ${instead}. The files that changed last:\n${listed.join('\n')}`)
    }
  }
  assert.deepEqual(more, [])
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(countsFile, `${JSON.stringify(counted, undefined, 2)}\n`)
  else assert.deepEqual(counted, allowed, 'there are fewer now: write the counts with UPDATE_GOLDEN=1')
})
