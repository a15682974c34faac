import type { Known } from '../shell-judgement.ts'
import { is, isRiskyVariable, reads, unclear } from '../shell-judgement.ts'
import { hasFlag, programOf, optionsOf } from '../command-options.ts'
import { only, wordText } from '../simple-command.ts'

const runs = programOf({ class: 'runs', touch: 'run' })

/** Build tools, test runners and checkers, which run the project's own code. */
const builders =
  'make gmake cmake ninja meson gradle gradlew mvn mvnw ant bazel just rake tox nox pytest jest vitest mocha ava tap c8 nyc tsc tsx ts-node eslint prettier stylelint biome oxlint ruff black isort mypy pyright flake8 pylint bandit rubocop rspec phpunit phpstan ctest gcc g++ cc c++ clang clang++ clang-format clang-tidy javac rustc rustfmt gofmt golangci-lint shellcheck shfmt esbuild vite webpack rollup turbo nx lerna playwright cypress swc knip madge markdownlint cspell hadolint yamllint actionlint'.split(
    ' ',
  )

const modules =
  /^(?:pytest|unittest|doctest|mypy|ruff|black|isort|flake8|pylint|compileall|py_compile|json\.tool|tokenize|timeit|coverage|tabnanny|ast|dis)$/

/** An interpreter: code in its arguments or input cannot be read; a file is run as a program of the project. */
function interpreter(code: readonly string[], takes: readonly string[] = [], safe: readonly string[] = []): Known {
  return (args) => {
    const options = optionsOf(args, ['-m', ...code, ...takes])
    if (options.unclear) return unclear(options.unclear)
    const first = args.findIndex((word) => !wordText(word).startsWith('-'))
    // After a file, a word is an argument of the script.
    const module = args.slice(0, first < 0 ? args.length : first).findIndex((word) => wordText(word) === '-m')
    if (
      code.some((flag) =>
        flag.startsWith('--')
          ? hasFlag(options.flags, flag)
          : options.flags.some((given) => !given.startsWith('--') && given.slice(1).includes(flag[1]!)),
      )
    )
      return is('dynamic', 'termaite does not read the code in it')
    if (module >= 0) {
      const name = only(args[module + 1])
      if (name === 'pip')
        return { ...is('runs', 'it runs programs of the project'), inner: [{ words: args.slice(module + 1) }] }
      if (name === 'ensurepip' || name === 'venv') return is('installing', 'it installs software')
      return name !== undefined && modules.test(name)
        ? is('runs', 'it runs programs of the project')
        : is('unknown', `termaite does not know the module ${name ?? ''}`)
    }
    if (options.operands.length === 0) {
      if (options.flags.some((flag) => safe.includes(flag))) return is('runs', 'it runs programs of the project')
      return options.flags.length > 0 && options.flags.every((flag) => /^(?:--version|-V|-v|--help|-h)$/.test(flag))
        ? reads()
        : is('dynamic', 'it runs the commands in its input')
    }
    return {
      ...is('runs', 'it runs a program of the project'),
      paths: [
        { word: options.operands[0]!, how: 'run' },
        ...options.values.filter(({ flag }) => !code.includes(flag)).map(({ word }) => ({ word, how: 'run' as const })),
        ...options.operands
          .slice(1)
          .filter((word) => /^(?:\/|\.\.\/|~)/.test(wordText(word)))
          .map((word) => ({ word, how: 'write' as const })),
      ],
    }
  }
}

const python = interpreter(['-c'], ['-W', '-X'])
const node = interpreter(
  ['-e', '-p', '--eval', '--print', '--inspect', '--inspect-brk'],
  ['-r', '--require', '--import', '--loader'],
  ['--test', '--check'],
)

/** Shell commands that set variables, which can change the behaviour of other programs, or that show all variables. */
const declares: Known = (args) => {
  const names = args.map((word) => wordText(word)).filter((text) => !text.startsWith('-'))
  if (names.length === 0) return is('secrets', 'it shows variables, which may hold keys')
  const risky = names.map((text) => text.replace(/=.*/s, '')).find(isRiskyVariable)
  return risky === undefined ? is('runs', 'it sets a variable') : is('dynamic', `${risky} decides what programs do`)
}

const evaluates: Known = () => is('dynamic', 'it evaluates text as the shell’s own language')

export const programs: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(builders.map((name) => [name, runs])),
  make: programOf({
    class: 'runs',
    touch: 'run',
    unless: { '--eval': is('dynamic', '--eval holds a rule that is not read') },
  }),
  cmake: programOf({ class: 'runs', touch: 'run', unless: { '-E': is('unknown', '-E runs a tool of cmake') } }),
  python,
  python3: python,
  python2: python,
  pypy3: python,
  node,
  nodejs: node,
  ruby: interpreter(['-e'], ['-r', '-I']),
  perl: interpreter(['-e', '-E', '-n', '-p', '-i'], ['-M', '-I']),
  php: interpreter(['-r', '-B', '-R', '-E'], ['-d']),
  lua: interpreter(['-e'], ['-l']),
  Rscript: interpreter(['-e']),
  java: interpreter([], ['-cp', '-classpath', '-jar']),
  export: declares,
  declare: declares,
  typeset: declares,
  local: declares,
  readonly: declares,
  printenv: () => is('secrets', 'it shows variables that may hold keys'),
  set: (args) =>
    args.length === 0
      ? is('secrets', 'it shows every variable, including keys')
      : args.every((word) => /^(?:[-+][a-z]+|pipefail)$/.test(wordText(word)))
        ? reads('it sets how the shell treats errors')
        : is('runs', 'it changes the shell'),
  ...Object.fromEntries(
    ['let', 'read', 'mapfile', 'readarray', 'getopts', 'unset', 'shopt'].map((name) => [name, evaluates]),
  ),
  ...Object.fromEntries(
    ['less', 'more', 'bat', 'man'].map((name) => [name, () => is('dynamic', 'it may run commands')]),
  ),
  sort: programOf({
    class: 'reads',
    touch: 'read',
    takes: ['-k', '-t', '-S', '--key', '--field-separator'],
    writes: ['-o', '--output'],
    unless: { '--compress-program': is('dynamic', '--compress-program runs a program') },
  }),
  osascript: () => is('system', 'it controls other programs'),
}
