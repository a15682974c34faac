import type { Known, Reading } from '../shell-judgement.ts'
import type { Word } from '../simple-command.ts'
import { is, unclear } from '../shell-judgement.ts'
import { firstOf, optionsOf } from '../command-options.ts'
import { only, wordText } from '../simple-command.ts'

/** Even to list something, these programs read settings of the project that can name a program. */
const lists = (why = 'it runs with settings of the project'): Reading => is('runs', why)

const installs = (why = 'it installs software') => is('installing', why)

/** npm and similar programs: scripts of package.json are read and judged, not trusted. */
const npm: Known = (args, { name }) => {
  const options = optionsOf(args, ['--prefix', '-C', '--dir', '--cwd', '-w', '--workspace', '--filter', '-F'])
  if (options.unclear) return unclear(options.unclear)
  const folder = options.values.find(({ flag }) => /^(?:--prefix|-C|--dir|--cwd)$/.test(flag))?.word
  const sub = firstOf(options)
  const script = (word: string | undefined): Reading =>
    word === undefined
      ? lists('it lists the scripts')
      : { ...is('runs', 'it runs a script of the project'), inner: [{ npm: word, ...(folder ? { folder } : {}) }] }
  if (options.flags.some((flag) => /^--(?:script-shell|node-options|globalconfig|userconfig|init-module)/.test(flag)))
    return is('dynamic', 'it names a program to run')
  if (sub === undefined) return name === 'yarn' ? installs() : lists()
  if (/^(?:run|run-script|rum)$/.test(sub)) return script(only(options.operands[1]))
  if (/^(?:test|t|tst|start|stop|restart)$/.test(sub)) return script(/^ts?t?$/.test(sub) ? 'test' : sub)
  if (
    /^(?:ls|list|ll|la|why|explain|root|prefix|bin|help|version|get|query|fund|pkg|-v|licenses)$/.test(sub) &&
    options.operands.length < 3
  )
    return sub === 'version' && options.operands.length > 1 ? is('edits', 'it changes the version') : lists()
  if (
    /^(?:view|info|show|v|search|outdated|audit|ping|whoami|publish|login|logout|adduser|token|access|owner|dist-tag|deprecate|unpublish|star|hook|team|profile)$/.test(
      sub,
    )
  )
    return is('network', 'it contacts the package registry')
  if (/^(?:config|c)$/.test(sub)) return is('secrets', 'settings of npm hold tokens')
  if (sub === 'pack') return is('runs', 'it runs scripts of the project')
  // pnpm and yarn only run installed programs, and download none.
  if (sub === 'exec') return programIn(args.slice(args.indexOf(options.operands[0]!) + 1), /^(?:pnpm|yarn)$/.test(name))
  if (
    /^(?:install|i|ci|in|add|a|remove|rm|r|un|uninstall|update|up|upgrade|link|ln|dedupe|ddp|prune|rebuild|import|install-test|it|cit|x|dlx|create|init|innit|set|cache|store|patch|global)$/.test(
      sub,
    )
  )
    return installs(/^(?:remove|rm|r|un|uninstall|prune)$/.test(sub) ? 'it removes packages' : undefined)
  // yarn, pnpm and bun run a script by its bare name.
  return name === 'npm' ? is('unknown', `termaite does not know npm ${sub}`) : script(sub)
}

/**
 * The words after `npx` and similar commands, which run a program of the project. A missing program would be downloaded, unless
 * `neverFetched`.
 */
function programIn(args: readonly Word[], neverFetched = false): Reading {
  const at = args.findIndex((word) => !(only(word) ?? '').startsWith('-'))
  const flags = (at < 0 ? args : args.slice(0, at)).map(wordText)
  if (flags.some((flag) => /^(?:-p|--package|-c|--call)/.test(flag)))
    return neverFetched ? is('dynamic', 'it runs text as a command') : installs('it downloads a package and runs it')
  if (at < 0) return lists()
  const program = only(args[at])
  if (program === undefined) return unclear(args[at]!)
  const isFetched = !neverFetched && !flags.some((flag) => /^--no(?:-install)?$/.test(flag))
  return {
    ...is('runs', 'it runs a program of the project'),
    inner: [...(isFetched ? [{ npm: `npx ${program}` }] : []), { words: args.slice(at) }],
  }
}

const npx: Known = (args) => programIn(args)

/** Subcommands by their effect; the first match counts, and all others are unknown. `mod:graph` stands for `mod graph`. */
function subs(kinds: Partial<Record<'lists' | 'runs' | 'edits' | 'installing' | 'network', string>>): Known {
  return (args) => {
    const options = optionsOf(args)
    if (options.unclear) return unclear(options.unclear)
    const sub = firstOf(options)
    if (sub === undefined)
      return options.flags.length > 0 ? lists() : is('unknown', 'without a subcommand it may do anything')
    const both = `${sub}:${only(options.operands[1])}`
    for (const [kind, names] of Object.entries(kinds))
      if (names.split(' ').some((name) => name === sub || name === both))
        return {
          ...is(
            kind === 'lists' ? 'runs' : (kind as 'runs'),
            kind === 'installing'
              ? 'it installs or removes software'
              : kind === 'network'
                ? 'it reaches the network'
                : 'it runs programs of the project',
          ),
          paths: options.operands
            .slice(1)
            .filter((word) => /^(?:\/|\.\.\/|~)/.test(wordText(word)))
            .map((word) => ({ word, how: 'run' })),
        }
    return is('unknown', `termaite does not know its subcommand ${sub}`)
  }
}

const pip = subs({
  lists: 'list show freeze check inspect config help',
  installing: 'install uninstall download wheel',
  network: 'search index',
})
const installer: Known = () => installs()

export const packages: Readonly<Record<string, Known>> = {
  npm,
  pnpm: npm,
  yarn: npm,
  bun: npm,
  npx,
  bunx: npx,
  pnpx: npx,
  pip,
  pip3: pip,
  uv: subs({
    lists: 'version tree pip:list pip:show pip:freeze pip:check pip:tree python:list python:find tool:list',
    runs: 'run',
    installing: 'add remove sync lock pip tool venv python init',
  }),
  poetry: subs({
    lists: 'show check version env',
    runs: 'run build',
    installing: 'add remove install update lock',
    network: 'publish',
  }),
  cargo: subs({
    lists: 'tree metadata version help locate-project pkgid',
    runs: 'build b check c test t run r bench clippy fmt doc d fix clean expand nextest',
    installing: 'install uninstall add remove update fetch vendor',
    network: 'publish login logout search owner yank',
  }),
  go: subs({
    lists: 'list env version doc help mod:graph mod:verify mod:why',
    runs: 'build test run vet fmt generate tool clean fix',
    installing: 'install get mod work',
  }),
  dotnet: subs({
    runs: 'build test run format clean publish',
    installing: 'add remove restore tool workload new nuget',
  }),
  bundle: subs({ lists: 'list show info check', runs: 'exec', installing: 'install update add remove' }),
  composer: subs({ lists: 'show validate', runs: 'test run-script', installing: 'install update require remove' }),
  mix: subs({ runs: 'test compile format run', installing: 'deps.get archive.install local.hex' }),
  swift: subs({ runs: 'build test run', installing: 'package' }),
  deno: subs({ lists: 'info doc', runs: 'test check fmt lint task', installing: 'install add cache' }),
  ...Object.fromEntries(
    'apt apt-get aptitude dpkg yum dnf rpm pacman yay zypper apk brew port snap flatpak nix nix-env choco winget scoop gem conda mamba pipx pipenv rustup nvm asdf mise corepack easy_install cpan cpanm luarocks opam stack cabal helm'
      .split(' ')
      .map((name) => [name, installer]),
  ),
}
