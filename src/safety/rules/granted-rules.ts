import type { ProjectBounds } from '../path-location.ts'
import type { JudgedCall } from './judged-call.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { gitVerb } from '../shell/programs/git-verbs.ts'
import { isCarried } from '../shell/shell-judgement.ts'
import { escapePattern, rulePath, withoutBlanks } from './rule-matching.ts'

/** The rules that a person can grant for later calls: for exactly this call, or for every command with the same beginning. */
type Offers = { exact?: readonly string[]; prefix?: string }

/** The rules that "always" can add for a call. Empty for code that cannot be read, and for acts that cannot be undone. */
export function grantOffers(call: JudgedCall, bounds: ProjectBounds): Offers {
  if (call.parts.some((part) => part.class === 'dynamic' || part.class === 'destructive')) return {}
  if (call.command === undefined) {
    return { exact: narrowestRules(call, bounds) }
  }
  const whole = wholeRule(call)
  // The text of a package script can change, so its parts that reach beyond the project get separate rules.
  const within = call.parts.flatMap((part) =>
    part.script && !isCarried(part) && part.argv
      ? [`${call.name}(${escapePattern(part.argv.map(shellWord).join(' '))})`]
      : [],
  )
  const prefix = prefixOf(call)
  return {
    exact: [...new Set([whole, ...within])],
    ...(prefix !== undefined && { prefix: `${call.name}(${escapePattern(prefix)}:*)` }),
  }
}

/** The rule that consists of the literal text of a call's command. */
export const wholeRule = ({ name, command = '' }: JudgedCall): string =>
  `${name}(${escapePattern(withoutBlanks(command))})`

/** The rules that allow this call of a tool without a command, and nothing else. */
function narrowestRules(call: JudgedCall, bounds: ProjectBounds): string[] {
  if (call.host !== undefined) return [`${call.name}(domain:${escapePattern(call.host)})`]
  const paths = call.parts.flatMap((part) => part.paths)
  if (paths.length === 0) return [call.name]
  return [...new Set(paths.map(({ real }) => `${call.name}(${escapePattern(rulePath(real, bounds))})`))]
}

/**
 * The beginning that all acting parts of a command share: a program and its subcommand. Only programs are listed whose further words
 * cannot name another program to run.
 */
function prefixOf(call: JudgedCall): string | undefined {
  const acting = call.parts.filter((part) => part.class !== 'reads' && !(part.script && isCarried(part)))
  const found = new Set(acting.map(({ argv }) => argv && beginningOf(argv)))
  const [one] = found
  return found.size === 1 ? one : undefined
}

const setOf = (names: string) => new Set(names.split(' '))

/** Programs that check, test or format a project: for these the name alone is enough as a beginning. */
const alone = setOf(
  'tsc eslint prettier biome oxlint stylelint jest vitest mocha pytest ruff mypy black flake8 isort rubocop rspec phpunit gofmt golangci-lint clang-format tox nox shellcheck',
)

/** Subcommands of a program that can be part of a beginning; those of git are in `git-verbs.ts`. */
const subcommands: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: setOf('test ci start version pack audit outdated view'),
  pnpm: setOf('test start audit outdated'),
  yarn: setOf('test start audit outdated'),
  bun: setOf('test'),
  cargo: setOf('build check test clippy fmt doc bench'),
  go: setOf('build test vet fmt mod'),
  make: new Set(),
  just: new Set(),
  gradle: setOf('build test check'),
  './gradlew': setOf('build test check'),
  mvn: setOf('test compile package verify'),
  dotnet: setOf('build test format restore'),
  mix: setOf('test compile format'),
  uv: setOf('sync lock'),
  poetry: setOf('install lock'),
  bundle: setOf('install'),
  composer: setOf('install'),
}

const scriptRunners = setOf('npm pnpm yarn bun')
const plainWord = /^[\w@.:/][\w@.:/-]*$/

function beginningOf([program = '', ...words]: readonly string[]): string | undefined {
  if (alone.has(program)) return program
  const [sub = '', next = ''] = words
  if (scriptRunners.has(program) && (sub === 'run' || sub === 'run-script'))
    return plainWord.test(next) ? `${program} ${sub} ${next}` : undefined
  // The target determines everything that a Makefile or a justfile then does.
  if (program === 'make' || program === 'just') return plainWord.test(sub) ? `${program} ${sub}` : undefined
  const mayBegin = program === 'git' ? gitVerb(sub).grants : subcommands[program]?.has(sub)
  return mayBegin ? `${program} ${sub}` : undefined
}
