/** Programs that run a project's tests, as written at the beginning of a command. */
const runners = [
  '(npm|pnpm|yarn|bun)( run)? (t|test|tests)(:[\\w:.-]+)?',
  '((npx|bunx|yarn|pnpm( exec)?)( --?[\\w-]+)* )?(vitest|jest|mocha|ava|tap|cypress run|playwright test)',
  'node( --?[\\w=-]+)* --test',
  '((uv|poetry|pdm|pipenv|hatch) run |\\S*python[\\d.]* -m )?(pytest|unittest|tox|nox)',
  'cargo( \\+\\S+)? (test|nextest run)',
  'go test',
  '(mvn|\\./mvnw)( -\\S+)* (test|verify)',
  '(gradle|\\./gradlew)( -\\S+)* (test|check)',
  '(make|gmake|just)( -\\S+)* (test|tests|check)',
  '(bundle exec )?(rspec|rake test|rails test)',
  '(\\S*/)?phpunit',
  '(composer|mix|dotnet|swift|deno|stack|cabal|sbt|zig build)( task)? test',
  '(ctest|bats)',
]
const runsTests = new RegExp(`^(${runners.join('|')})(?= |$)`)

/** Options with which no test runs, or the run does not end by itself. */
const runsNothing =
  /(^| )(--?h(elp)?|--version|--watch(All)?(?!=false)|--ui|--list(-tests)?|--listTests|--collect-only|--co|--no-run|--dry-run|--if-present|--passWithNoTests|-n)(?= |=|$)/

/** Parts of a shell command after which its exit code is no longer that of the tests. */
const hidesResult = /[|;`\n]|\$\(|(?<![>&])&(?![&>\d])|<</

/**
 * Whether a command only runs a project's tests, so that its exit code is their result. A pipe, a list of commands or an option may hide
 * the result: such a command is no evidence.
 */
export function isTestRun(command: string): boolean {
  const plain = command.trim().replace(/\s*(\d?>&\d|\d?>\s*\/dev\/null)\s*$/g, '')
  if (hidesResult.test(plain)) return false
  const parts = plain.split('&&').map((part) => part.trim().replace(/^([A-Z_][A-Z\d_]*=\S* +)+/, ''))
  const last = parts.pop() ?? ''
  return parts.every((part) => /^cd \S+$/.test(part)) && runsTests.test(last) && !runsNothing.test(last)
}

/** The exit code in the data of a result, as reported by the tools that run commands. */
export function exitOf(data: unknown): number | undefined {
  const { exit } = (typeof data === 'object' && data !== null ? data : {}) as { exit?: unknown }
  return typeof exit === 'number' ? exit : undefined
}
