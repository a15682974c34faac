import type { Known, Reading } from '../shell-judgement.ts'
import type { Word } from '../simple-command.ts'
import { is, reads, unclear } from '../shell-judgement.ts'
import { literal, only, wordText } from '../simple-command.ts'
import { hasFlag, optionsOf } from '../command-options.ts'
import { gitVerb } from './git-verbs.ts'

/** Settings that only change words and colours; any other may name a program. */
const tame =
  /^(?:user\.(?:name|email)|color\..*|core\.quote[Pp]ath|core\.auto[Cc]rlf|init\.default[Bb]ranch|advice\..*|commit\.gpg[Ss]ign|diff\.(?:rename[Ss]|algorithm|noprefix)|log\..*|pull\.(?:rebase|ff))=/

/** Flags that name a file or a program, in commands that otherwise only read. */
const leaks: readonly [string, Reading][] = [
  ['--output', is('unknown', '--output writes a file')],
  ['--ext-diff', is('dynamic', '--ext-diff runs a program')],
  ['--textconv', is('dynamic', '--textconv runs a program')],
  ['--open-files-in-pager', is('dynamic', 'it runs a program')],
  ['--exec', is('dynamic', '--exec runs a command')],
  ['--upload-pack', is('dynamic', '--upload-pack runs a program')],
  ['--receive-pack', is('dynamic', '--receive-pack runs a program')],
]

export const git: Known = (args) => {
  const front = leading(args)
  if ('class' in front) return front
  const { sub, rest, folders } = front
  const reading = subcommand(sub, rest)
  return { ...reading, paths: [...(reading.paths ?? []), ...folders.map((word) => ({ word, how: 'read' as const }))] }
}

/** Parses the options before the subcommand: `-c` can name a program to run. */
function leading(args: readonly Word[]): Reading | { sub: string; rest: readonly Word[]; folders: Word[] } {
  const folders: Word[] = []
  for (let i = 0; i < args.length; i++) {
    const word = only(args[i])
    if (word === undefined) return unclear(args[i]!)
    if (word === '-c') {
      const setting = only(args[++i])
      if (setting === undefined || !tame.test(setting)) return is('dynamic', 'git -c can name a program to run')
    } else if (word === '-C' || word === '--git-dir' || word === '--work-tree') {
      if (args[++i]) folders.push(args[i]!)
    } else if (/^--(?:git-dir|work-tree)=/.test(word))
      folders.push({ text: word, values: [word.slice(word.indexOf('=') + 1)] })
    else if (/^--(?:exec-path|config-env|namespace|super-prefix)/.test(word))
      return is('dynamic', `git ${word} can name a program to run`)
    else if (!word.startsWith('-')) return { sub: word, rest: args.slice(i + 1), folders }
  }
  return { sub: 'version', rest: [], folders }
}

function subcommand(sub: string, args: readonly Word[]): Reading {
  const options = optionsOf(args, [
    '-m',
    '--message',
    '-n',
    '--format',
    '--pretty',
    '--author',
    '--since',
    '--until',
    '-S',
    '-G',
    '-L',
  ])
  const has = (...flags: string[]) => flags.some((flag) => hasFlag(options.flags, flag))
  const operands = options.operands.map((word) => wordText(word))
  for (const [flag, reading] of leaks)
    if (
      hasFlag(
        options.flags.filter((given) => given.length > 5),
        flag,
      )
    )
      return reading
  const { does } = gitVerb(sub)
  if (does === 'reads') {
    if (options.unclear) return unclear(options.unclear)
    if (sub === 'grep' && has('-O')) return is('dynamic', 'it runs a program')
    // Only a word that leads out of the repository is certainly a path; a revision may look like one.
    const out = options.operands.filter((word) => word.values?.some((value) => /^(?:\/|\.\.\/|~)/.test(value)))
    // The file in `HEAD:file` and in `-L1,9:file`.
    const named = args.flatMap((word) => /:([^:]+)$/.exec(wordText(word))?.[1] ?? [])
    return { ...reads(), paths: [...out, ...named.map(literal)].map((word) => ({ word, how: 'read' })) }
  }
  switch (sub) {
    case 'commit':
      return has('--amend')
        ? is('destructive', 'it rewrites a commit')
        : is('runs', 'it runs the hooks of the repository')
    case 'branch':
      if (has('-d', '-D', '-M', '-C', '-f', '--delete', '--force'))
        return is('destructive', 'it removes or overwrites a branch')
      return operands.length === 0 || has('--list', '-l') ? reads() : is('edits', 'it makes a branch')
    case 'tag':
      if (has('-d', '-f', '--delete', '--force')) return is('destructive', 'it removes or overwrites a tag')
      return operands.length === 0 || has('-l', '--list') ? reads() : is('edits', 'it makes a tag')
    case 'stash':
      if (/^(?:list|show)$/.test(operands[0] ?? '')) return reads()
      return /^(?:drop|clear)$/.test(operands[0] ?? '')
        ? is('destructive', 'it deletes stashed changes')
        : is('edits', 'it stashes changes or brings them back')
    case 'worktree':
      return operands[0] === 'list' ? reads() : is('outside', 'a worktree lies outside the project')
    case 'reflog':
      return /^(?:expire|delete)$/.test(operands[0] ?? '')
        ? is('destructive', 'it removes commits that could still be restored')
        : reads()
    case 'config':
      return has('--get', '--get-all', '--list', '-l', '--show-origin') || /^(?:get|list)$/.test(operands[0] ?? '')
        ? reads()
        : operands.length === 1 && options.flags.length === 0
          ? reads()
          : is('system', 'settings of git can name programs that it runs')
    case 'symbolic-ref':
      return operands.length < 2 && options.flags.every((flag) => /^-q|^--short/.test(flag))
        ? reads()
        : is('edits', 'it moves a reference')
    case 'remote':
      return operands.length === 0
        ? reads()
        : operands[0] === 'get-url'
          ? reads()
          : is('network', 'it changes or contacts a remote')
    case 'reset':
      if (has('--hard', '--merge', '--keep')) return is('destructive', 'it throws changes away')
      return is('edits', 'it changes the staged files')
    case 'restore':
      return has('--staged', '-S') && !has('--worktree', '-W')
        ? is('edits', 'it changes the staged files')
        : is('destructive', 'it throws changes away')
    case 'checkout':
      return isSwitch(args, operands, options.flags)
        ? is('edits', 'it switches branches')
        : is('destructive', 'it may throw changes away')
    case 'switch':
      return has('-f', '-C', '--force', '--discard-changes', '--force-create')
        ? is('destructive', 'it may throw changes away')
        : is('edits', 'it switches branches')
    case 'clean':
      return has('-n', '--dry-run') && !has('-f', '--force')
        ? reads()
        : is('destructive', 'it removes files that git does not track')
    case 'rm':
      return has('--cached')
        ? is('edits', 'it changes the staged files')
        : { ...is('removes', 'it removes files'), paths: options.operands.map((word) => ({ word, how: 'remove' })) }
    case 'push':
      return has('-f', '--force', '--force-with-lease', '--delete', '-d', '--mirror', '--prune') ||
        operands.some((one) => /^[+:]/.test(one))
        ? is('destructive', 'it overwrites or removes commits that others may use')
        : is('network', 'it sends commits to a remote')
    case 'bisect':
      return operands[0] === 'run' ? is('dynamic', 'it runs a command') : is('edits', 'it switches commits')
  }
  if (options.unclear) return unclear(options.unclear)
  if (does === 'edits')
    return {
      ...is('edits', 'it changes the working tree or the repository'),
      paths: options.operands
        .filter((word) => word.values?.some((value) => /^(?:\/|\.\.\/)/.test(value)))
        .map((word) => ({ word, how: 'write' })),
    }
  if (does === 'reaches') return is('network', 'it reaches the network')
  if (does === 'destroys') return is('destructive', 'it drops data that cannot be restored')
  return is('unknown', `git ${sub} may be anything: an alias can run a command`)
}

/** `checkout` with one plain name or a new branch switches branches; with a path it overwrites files. */
function isSwitch(args: readonly Word[], operands: readonly string[], flags: readonly string[]): boolean {
  if (
    args.some((word) => wordText(word) === '--') ||
    hasFlag(flags, '-f') ||
    hasFlag(flags, '--force') ||
    hasFlag(flags, '-B')
  )
    return false
  if (hasFlag(flags, '-b')) return true
  return operands.length === 1 && /^[\w/-]+$/.test(operands[0]!) && !operands[0]!.startsWith('.')
}
